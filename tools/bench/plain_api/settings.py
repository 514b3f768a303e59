"""The service's settings, with plain views next to its own."""

from config.settings import *  # noqa: F403 - all settings but one are the same

ROOT_URLCONF = "tools.bench.plain_api.urls"
