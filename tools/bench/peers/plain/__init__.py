"""Webhooks as most Django projects write them: requests, the ORM, and a task per delivery."""

from tools.bench.peers.plain.app import app

__all__ = ["app"]
