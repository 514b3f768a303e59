"""Django's LOGGING: one line per record, to standard error."""

from logging import getLevelNamesMapping, getLogger
from typing import Any

from core.watch.log_floods import FLOODS
from core.watch.log_lines import formatter, is_news, name_request
from core.watch.url_secrets import hide_in_line


def write_our_lines(name: str, form: str) -> None:
    """Apply our format and filters to the handlers that a library has set up for its logger."""
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
            # Django's CallbackFilter would import its mail and debug pages into each process.
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
        # The check config.E013 refuses an unknown level; logging must work until then.
        "root": {
            "handlers": ["stderr"],
            "level": level if level in getLevelNamesMapping() else "INFO",
        },
        "loggers": {
            # INFO has a line for each doorbell and connection, which would drown what matters.
            "celery": {"level": "WARNING"},
            "kombu": {"level": "WARNING"},
            # Failures and locks only; INFO has lines for each sign-in and its queries.
            "axes": {"level": "WARNING"},
            # Refusals are answers, not incidents; only failures of our own are worth a line.
            "django.request": {"level": "ERROR", "filters": ["news"]},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            # Reports a collector that is away with each batch; core.watch.tracing does so once.
            "opentelemetry": {"level": "CRITICAL"},
            # Warns each time that it drops the body of an answer to HEAD.
            "gunicorn.http.wsgi": {"level": "ERROR"},
        },
    }
