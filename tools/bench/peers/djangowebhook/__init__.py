"""Project with django-webhook as in its README: saving a parcel sends it to the webhooks."""

from tools.bench.peers.djangowebhook.app import app

__all__ = ["app"]
