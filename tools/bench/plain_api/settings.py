"""The service's own settings, with plain views beside its addresses."""

from config.settings import *  # noqa: F403 - the same, but for one

ROOT_URLCONF = "tools.bench.plain_api.urls"
