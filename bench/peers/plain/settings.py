from bench.peers.base import *  # noqa: F403

INSTALLED_APPS = ["bench.peers.plain"]
