"""Settings for the type checker, which reads the models and connects to nothing."""

import os

os.environ.setdefault("SECRET_KEY", "only for the type checker")
os.environ.setdefault("FIELD_KEYS", "only for the type checker")
os.environ.setdefault("DATABASE_URL", "postgres:///nowhere")
os.environ.setdefault("BROKER_URL", "redis://")

from config.settings import *  # noqa: F403
