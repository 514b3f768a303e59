"""Secrets in URLs, kept out of whatever is written about a request.

Some URLs grant access: a signed file, an invitation, a new password, a sign-on on its way back.
Django, gunicorn and tracebacks write URLs, or parts of them, into lines that we do not word.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from logging import Formatter, LogRecord
from urllib.parse import unquote, unquote_plus

# Tokens and keys are longer; ids, names of pages and most tracking numbers are not. A colon is in
# what Django signs, such as the addresses of files.
LONGEST_PART = 24
SIGNED = ":"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HIDDEN = "…"
# Shorter texts are no secrets, and may stand anywhere in a line.
SHORTEST_SECRET = 8
# A provider's codes may be shorter than a part of a path.
LONGEST_VALUE = 15
ORIGIN = re.compile(r"^[a-z]+://[^/?#]*", re.I)
# gunicorn's line for a request that it cannot parse; its end quotes the request.
UNREADABLE = re.compile(r"^(Invalid request from ip=[^ ]*): .*", re.S)
tracebacks = Formatter()

# URLs of the request at work, and the one of the page that it came from.
at_work: ContextVar[tuple[str, ...]] = ContextVar("urls", default=())


@contextmanager
def working_on(*urls: str) -> Iterator[None]:
    """Note the URLs of a request that is at work outside the application."""
    before = at_work.set(urls)
    try:
        yield
    finally:
        at_work.reset(before)


def shown_path(path: str) -> str:
    """Hide the parts of a path that may be secrets, or would break a line in two."""
    return "/".join(part if is_harmless(part) else HIDDEN for part in path.split("/"))


def is_harmless(part: str) -> bool:
    if len(part) <= LONGEST_PART:
        return SIGNED not in part and part.isprintable()
    return bool(UUID.fullmatch(part))


def hide_secrets(text: str) -> str:
    """Replace secrets of the current request's URLs in a text."""
    secrets = {secret for url in at_work.get() for secret in secrets_of(url)}
    # The longest first: a query has its values in it.
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def secrets_of(url: str) -> Iterator[str]:
    """Yield parts of the path and of the query as they are sent and as they are read."""
    path, _, query = ORIGIN.sub("", url).partition("?")
    parts = [spelling for part in path.split("/") for spelling in (part, unquote(part))]
    secrets = [part for part in parts if not is_harmless(part)]
    for pair in query.split("&"):
        value = pair.partition("=")[2]
        secrets += [each for each in (value, unquote_plus(value)) if len(each) > LONGEST_VALUE]
    return (secret for secret in (query, *secrets) if len(secret) >= SHORTEST_SECRET)


def hide_in_line(record: LogRecord) -> bool:
    """Filter of a handler: hide secrets in a line and in its traceback."""
    record.msg = UNREADABLE.sub(r"\1", hide_secrets(record.getMessage()))
    record.args = None
    if record.exc_info and not record.exc_text:
        record.exc_text = tracebacks.formatException(record.exc_info)
    if record.exc_text:
        record.exc_text = hide_secrets(record.exc_text)
    return True
