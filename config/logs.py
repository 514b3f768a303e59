"""Django's LOGGING: our lines, one each, to standard error, for whoever collects them."""

from logging import getLevelNamesMapping, getLogger
from typing import Any

from core.watch.log_floods import FLOODS
from core.watch.log_lines import formatter, is_news, name_request
from core.watch.url_secrets import hide_in_line


def write_our_lines(name: str, form: str) -> None:
    """Give the handlers that a library has made for its logger our lines."""
    for handler in getLogger(name).handlers:
        handler.addFilter(name_request)
        handler.addFilter(hide_in_line)
        handler.addFilter(FLOODS)
        handler.setFormatter(formatter(form))


def logging(level: str, form: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"()": formatter, "form": form},
        },
        "filters": {
            # Django's own kind would bring its mail and its pages into each process.
            "news": {"()": lambda: is_news},
            "request": {"()": lambda: name_request},
            "secrets": {"()": lambda: hide_in_line},
            "floods": {"()": lambda: FLOODS},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["request", "secrets", "floods"],
            }
        },
        # What is no level is refused by the check config.E013, which logging must live to see.
        "root": {
            "handlers": ["stderr"],
            "level": level if level in getLevelNamesMapping() else "INFO",
        },
        "loggers": {
            # Its comings and goings, and a line for each doorbell, would drown what matters.
            "celery": {"level": "WARNING"},
            "kombu": {"level": "WARNING"},
            # Failures and locks, not each sign-in with all that was looked up for it.
            "axes": {"level": "WARNING"},
            # Refusals are answers, not incidents; only failures of our own are worth a line.
            "django.request": {"level": "ERROR", "filters": ["news"]},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            # Says of each batch that a collector is away; core.watch.tracing says it once.
            "opentelemetry": {"level": "CRITICAL"},
            # The body of an answer to HEAD is left to the server, which drops it and says so.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }
