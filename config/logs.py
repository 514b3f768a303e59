"""What is logged: one line each, to standard error, for whoever collects them."""

from logging import Formatter, Logger, LogRecord
from typing import Any

from companies import request_ids

# The request that the line belongs to stands between brackets, or a hyphen.
LINE = "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"


def is_news(record: LogRecord) -> bool:
    """Who asks whether we are ready reads the answer: "not yet" is no failure."""
    request = getattr(record, "request", None)
    return getattr(request, "path", "") != "/readyz"


def name_request(record: LogRecord) -> bool:
    record.request_id = request_ids.current() or "-"
    return True


def name_requests_in(logger: Logger) -> None:
    """Give the handlers that gunicorn made our line."""
    for handler in logger.handlers:
        handler.addFilter(name_request)
        handler.setFormatter(Formatter(LINE))


def logging(level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": LINE},
        },
        "filters": {
            "news": {"()": "django.utils.log.CallbackFilter", "callback": is_news},
            "request": {"()": "django.utils.log.CallbackFilter", "callback": name_request},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["request"],
            }
        },
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
