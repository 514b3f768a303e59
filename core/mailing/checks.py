"""Checks of the mail settings, which Django would report only at the first email."""

from collections.abc import Iterator
from email.utils import parseaddr
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.utils.module_loading import import_string

from core.watch.checks import SETTINGS, Use

SMTP = "django.core.mail.backends.smtp.EmailBackend"
SENDS_NOTHING = tuple(
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "locmem")
)


@register(SETTINGS, Use.MAIL)
def mail(**_: Any) -> list[CheckMessage]:
    return [*mail_errors(), *mail_warnings()]


def mail_errors() -> Iterator[CheckMessage]:
    if settings.EMAIL_USE_TLS and settings.EMAIL_USE_SSL:
        yield Error(
            "EMAIL_USE_TLS and EMAIL_USE_SSL are both true.",
            hint="Set EMAIL_USE_TLS to false for TLS from the first byte, else EMAIL_USE_SSL.",
            id="config.E006",
        )
    try:
        import_string(settings.EMAIL_BACKEND)
    except ImportError as error:
        yield Error(
            f"EMAIL_BACKEND cannot be imported: {error}",
            hint=f"Leave it out for {SMTP}.",
            id="config.E014",
        )
    if not 0 < settings.EMAIL_PORT < 65536:
        yield Error(
            f"EMAIL_PORT is {settings.EMAIL_PORT}.",
            hint="Set it to a port of the mail server, such as 587.",
            id="config.E015",
        )
    if not 0 < settings.EMAIL_TIMEOUT <= 100:
        yield Error(
            f"EMAIL_TIMEOUT_SECONDS is {settings.EMAIL_TIMEOUT:g}.",
            hint="Set it to between 1 and 100 seconds.",
            id="config.E015",
        )
    sender = settings.DEFAULT_FROM_EMAIL
    if "@" not in parseaddr(sender)[1] or "\n" in sender:
        yield Error(
            f"EMAIL_FROM is {sender!r}, which is no address.",
            hint="Set it to an address, such as desk@example.com.",
            id="config.E016",
        )


def mail_warnings() -> Iterator[CheckMessage]:
    if settings.ENVIRONMENT != "production":
        return
    if settings.EMAIL_BACKEND in SENDS_NOTHING:
        yield Warning(
            "No mail server is named, so companies do not hear of paused webhooks.",
            hint="Set EMAIL_HOST.",
            id="config.W004",
        )
    elif parseaddr(settings.DEFAULT_FROM_EMAIL)[1].endswith("@localhost"):
        yield Warning(
            f"Emails are sent from {settings.DEFAULT_FROM_EMAIL}, which other servers refuse.",
            hint="Set EMAIL_FROM.",
            id="config.W005",
        )
