from tools.bench.peers.base import *  # noqa: F403

INSTALLED_APPS = ["django_webhook", "tools.bench.peers.djangowebhook"]
DJANGO_WEBHOOK = {"MODELS": ["djangowebhook.Parcel"]}
