"""Settings, URLs, error handlers, and the web and worker processes."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
