from tools.bench.peers.base import *  # noqa: F403

INSTALLED_APPS = ["tools.bench.peers.plain"]
