"""Settings that both peers share: those of `startproject`, with a broker.

PEER_DATABASE is JSON. By default Celery closes the database connection around each task;
PEER_KEEPS_CONNECTION keeps it open, as few projects do.
"""

import json
import os

SECRET_KEY = "only-for-measuring-" * 3
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        **json.loads(os.environ["PEER_DATABASE"]),
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
CELERY_BROKER_URL = os.environ["BROKER_URL"]
CELERY_TASK_DEFAULT_QUEUE = os.environ["PEER_QUEUE"]
CELERY_TASK_IGNORE_RESULT = True
if os.environ.get("PEER_KEEPS_CONNECTION"):
    CELERY_DB_REUSE_MAX = 1_000_000
