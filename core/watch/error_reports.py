"""Errors of ours, reported to the Sentry of SENTRY_DSN.

Its package is one of requirements-tracing.txt: nothing else imports this module. Only the logged
line, the traceback and the request's id are sent: no request, headers, bodies or variables, and of
an exception the first line, as PostgreSQL shows rows in those below it.
Why not Sentry's integrations of Django and Celery: decision page config-spans-are-our-own.
"""

import logging
from functools import partial
from typing import Any

import sentry_sdk
from django.conf import settings
from sentry_sdk.integrations.dedupe import DedupeIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.integrations.logging import LoggingIntegration

from core.watch import request_ids
from core.watch.process_kinds import ProcessKind, at_process_end
from core.watch.url_secrets import hide_secrets, shown_path

# Members of an event that are sent; those that later versions of the package add are not.
SENT_MEMBERS = (
    "event_id",
    "timestamp",
    "platform",
    "level",
    "logger",
    "logentry",
    "exception",
    "release",
    "environment",
    "server_name",
    "sdk",
)
LONGEST_WORDS = 300


def begin_reporting(**options: Any) -> None:
    # send_default_pii is off by default, so no personal data is sent.
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=f"{settings.PRODUCT}@{settings.VERSION}",
        environment=settings.ENVIRONMENT,
        include_local_variables=False,
        include_source_context=False,
        send_client_reports=False,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            LoggingIntegration(level=None, event_level=logging.ERROR),
            DedupeIntegration(),
            ExcepthookIntegration(),
        ],
        before_send=cleaned,
        **options,
    )
    at_process_end(partial(sentry_sdk.flush, timeout=2))


def cleaned(event: Any, hint: Any) -> Any:
    """Reduce an event to what may be sent."""
    outgoing = {name: event[name] for name in SENT_MEMBERS if name in event}
    outgoing["tags"] = {"process": ProcessKind.name, "request_id": request_ids.current() or ""}
    if words := outgoing.get("logentry"):
        text = words.get("formatted") or words.get("message") or ""
        outgoing["logentry"] = {"message": outgoing_text(text)}
    for each in outgoing.get("exception", {}).get("values", ()):
        each["value"] = outgoing_text(str(each.get("value") or ""))
    return outgoing


def outgoing_text(text: str) -> str:
    """Return the first line, without parts of paths that may grant access."""
    words = hide_secrets(text.partition("\n")[0]).split(" ")
    safe_words = (shown_path(word) if word.startswith("/") else word for word in words)
    return " ".join(safe_words)[:LONGEST_WORDS]
