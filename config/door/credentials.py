"""Senders who may send a large body: those with a live token or session."""

import logging
from collections.abc import Iterable

from django.conf import settings
from django.db import Error
from django.http import parse_cookie
from django.utils import timezone

from companies.api.authentication import live_platform_token, live_token
from companies.tokens import bearer_token
from config.door.allowances import FEED
from core.watch.doctor import first_line
from desk.common.session_store import live_rows
from portal.visitors import is_visitor

logger = logging.getLogger(__name__)


def are_known(headers: Iterable[tuple[str, str]], path: str) -> bool:
    """Look up the sender's token and session. While the database is away, every sender is known.

    At the address of the feed only the platform's token counts, and it counts nowhere else.
    """
    values = dict(headers)
    authorization = values.get("AUTHORIZATION", "")
    try:
        if path == FEED:
            return known_platform(authorization)
        cookies = values.get("COOKIE", "")
        return known_token(authorization) or known_session(cookies) or known_visitor(path, cookies)
    except Error as error:
        logger.error("cannot look up who sends a large body: %s", first_line(error))
        return True


def known_token(authorization: str) -> bool:
    token = bearer_token(authorization)
    return bool(token) and live_token(token, timezone.now()) is not None


def known_platform(authorization: str) -> bool:
    token = bearer_token(authorization)
    return bool(token) and live_platform_token(token, timezone.now()) is not None


def known_session(cookies: str) -> bool:
    key = parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME, "")
    return bool(key) and live_rows(key).exists()


def known_visitor(path: str, cookies: str) -> bool:
    return path.startswith("/c/") and is_visitor(parse_cookie(cookies))
