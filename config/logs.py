"""What is logged: one line each, to standard error, for whoever collects them."""

from logging import LogRecord
from typing import Any


def is_news(record: LogRecord) -> bool:
    """Who asks whether we are ready reads the answer: "not yet" is no failure."""
    request = getattr(record, "request", None)
    return getattr(request, "path", "") != "/readyz"


def logging(level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        },
        "filters": {"news": {"()": "django.utils.log.CallbackFilter", "callback": is_news}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # A line for each doorbell would drown what matters.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            # Failures and locks, not each sign-in with all that was looked up for it.
            "axes": {"level": "WARNING"},
            # Refusals are answers, not incidents; only failures of our own are worth a line.
            "django.request": {"level": "ERROR", "filters": ["news"]},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            # The body of an answer to HEAD is left to the server, which drops it and says so.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }
