"""What most Django projects write: a Celery task for each delivery, requests, the ORM."""

from tools.bench.peers.plain.app import app

__all__ = ["app"]
