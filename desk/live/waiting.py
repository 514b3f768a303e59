"""Which requests of open pages may wait for news in the web server, and when there is some.

They are gunicorn's, as they came: nothing of Django has seen them. Only who is known may wait.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http import QueryDict, parse_cookie

from desk.live.asking import ADDRESS, ASKERS, Asker, Server, news_for
from desk.live.changes import WATCHER


def begin_waiting() -> None:
    """Called by a web server that keeps requests."""
    Server.keeps_requests = True


def may_wait(request: Any) -> bool:
    """A page that somebody looks at, and has been answered before. Reads memory alone."""
    if request.path != ADDRESS or request.method != "GET" or "wait=1" not in request.query:
        return False
    return asker_of(request) is not None


def asker_of(request: Any) -> Asker | None:
    cookies = parse_cookie(dict(request.headers).get("COOKIE", ""))
    return ASKERS.find(cookies.get(settings.SESSION_COOKIE_NAME, ""))


def have_news(requests: Sequence[Any]) -> list[bool]:
    """For each whether it is to be answered now: there is news, or somebody is not known now."""
    now = WATCHER.current()
    ASKERS.drop_ended(now.at)
    told = []
    for request in requests:
        asker = asker_of(request)
        told.append(
            asker is None or bool(news_for(asker, QueryDict(request.query), now).get("news"))
        )
    return told
