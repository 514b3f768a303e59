"""Settings, and what ties the apps together: URLs, errors, health, processes."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
