"""django-webhook as its README sets it up: saving a parcel sends it to who listens."""

from tools.bench.peers.djangowebhook.app import app

__all__ = ["app"]
