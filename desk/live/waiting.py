"""Requests of open pages that wait for news in the web server.

They are gunicorn's raw requests, which have not reached Django. Only known callers may wait.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http import QueryDict, parse_cookie

from desk.live.changes import WATCHER
from desk.live.polling import ADDRESS, ASKERS, Asker, Server, news_for


def begin_waiting() -> None:
    """Note that the web server holds requests; it calls this when it starts."""
    Server.keeps_requests = True


def may_wait(request: Any) -> bool:
    """Check if a request is a known caller's poll that allows waiting; reads only memory."""
    if request.path != ADDRESS or request.method != "GET" or "wait=1" not in request.query:
        return False
    return asker_of(request) is not None


def asker_of(request: Any) -> Asker | None:
    cookies = parse_cookie(dict(request.headers).get("COOKIE", ""))
    return ASKERS.find(cookies.get(settings.SESSION_COOKIE_NAME, ""))


def have_news(requests: Sequence[Any]) -> list[bool]:
    """Return for each request if it must be answered now: it has news, or its caller is unknown."""
    now = WATCHER.current()
    ASKERS.drop_ended(now.at)
    ready = []
    for request in requests:
        asker = asker_of(request)
        ready.append(
            asker is None or bool(news_for(asker, QueryDict(request.query), now).get("news"))
        )
    return ready
