"""Polling by open pages for news.

A caller who asked within the last minute is recognized by the session cookie and answered from
memory, without reading the session or the user: each reading of news is accompanied by one
statement that finds the ended sessions of all of them. The answer has ids and numbers only;
whatever is shown comes from pages that check the session each time.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict

from companies.known_callers import CALLERS
from core.data import statements
from core.data.recent import Recent
from desk.common.pages import ASSIGN_TICKET, VIEW_TICKET
from desk.common.session_store import stored_key
from desk.live.changes import CACHE_SECONDS, WATCHER, ChangedTicket, Snapshot
from desk.queue import queues
from tickets.models import Agent

ADDRESS = "/admin/live/"
KNOWN_SECONDS = 60.0
MOST_KNOWN = 10_000
MOST_ROWS = 200
# Known callers whose session is still valid for the desk.
STILL_IN = """
SELECT known.session
FROM unnest(%(sessions)s::text[], %(users)s::integer[], %(passwords)s::text[])
  AS known (session, user_id, password)
JOIN django_session ON session_key = known.session AND expire_date > clock_timestamp()
JOIN auth_user ON id = known.user_id AND is_active AND is_staff
  AND auth_user.password = known.password
"""


class Asker(NamedTuple):
    """A user who has a page open."""

    user_id: int
    agent_id: int | None
    leads: bool
    # The password's hash: another one ends the session.
    password: str


class Askers(Recent[Asker]):
    """Known callers of this process, by session key."""

    checked_at = 0.0

    def drop_ended(self, at: float) -> None:
        """Forget callers who were logged out or deactivated, once for each reading of news."""
        if at == self.checked_at:
            return
        self.checked_at = at
        askers = self.current_entries()
        stored = {stored_key(key): key for key in askers}
        values = {
            "sessions": list(stored),
            "users": [asker.user_id for asker in askers.values()],
            "passwords": [asker.password for asker in askers.values()],
        }
        valid = {session for (session,) in statements.fetch_rows(STILL_IN, values)}
        for session in stored.keys() - valid:
            self.forget(stored[session])


ASKERS = Askers(MOST_KNOWN)


class Server:
    """Capabilities of the web server, set when it starts."""

    # True if it holds requests until there is news; pages then pause only briefly between them.
    keeps_requests = False


class LiveAnswers:
    """Middleware before the sessions', which answers known callers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info == ADDRESS and request.method == "GET":
            session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
            if ASKERS.find(session) is not None:
                now = WATCHER.current()
                ASKERS.drop_ended(now.at)
                if (asker := ASKERS.find(session)) is not None:
                    return live_answer(asker, request.GET, now)
        return self.get_response(request)


@receiver(user_logged_out)
def forget_asker(sender: Any, request: HttpRequest, **_: Any) -> None:
    ASKERS.forget(request.session.session_key or "")
    CALLERS.forget("session", request.session.session_key or "")


def live_page(request: HttpRequest) -> HttpResponse:
    """Answer a signed-in user and remember them; 401 for everybody else."""
    user = request.user
    allowed = admin.site.has_permission(request) and user.has_perm(VIEW_TICKET)
    if not user.is_authenticated or not allowed:
        return HttpResponse(status=401)
    me = Agent.objects.filter(user=user.pk).values_list("pk", flat=True).first()
    leads = user.has_perm(ASSIGN_TICKET)
    asker = Asker(user.pk, me, leads, user.password)
    if request.session.session_key:
        ASKERS.keep(request.session.session_key, asker, KNOWN_SECONDS)
        CALLERS.remember("session", request.session.session_key, f"user {user.pk}")
    return live_answer(asker, request.GET, WATCHER.current())


def live_answer(asker: Asker, query: QueryDict, now: Snapshot) -> HttpResponse:
    news = news_for(asker, query, now)
    response = JsonResponse({**news, "waits": Server.keeps_requests})
    response["Cache-Control"] = "no-store"
    # The middleware that would set it comes after this one.
    response["Content-Length"] = str(len(response.content))
    return response


def news_for(asker: Asker, query: QueryDict, now: Snapshot) -> dict[str, Any]:
    """Return the news since the page's last answer; `known` are the tokens that it has already.

    `changed` has the tokens of tickets that the page shows, `entered` those of tickets new in its
    queue, `mine` those of the user's own tickets. `stale` is set if the pause was so long that
    changes may be missing. `news` is False if there is nothing new.
    """
    since = number_in(query.get("since", ""))
    notified = now.notified.get(asker.user_id, 0.0)
    result: dict[str, Any] = {"now": now.at, "notified": notified, "counted": now.counts_digest}
    news = not since or notified > number_in(query.get("notified", ""))
    if str(now.counts_digest) != query.get("counted"):
        result["counts"], news = counts_for(asker, now), True
    if since and since < now.at - CACHE_SECONDS:
        return {**result, "stale": True, "news": True}
    tokens = set(query.get("known", "").split(",")[:MOST_ROWS])
    changes = [one for one in now.since(since) if one.token not in tokens] if since else []
    if changes:
        of_page = changes_of_page(asker, query, changes)
        result |= of_page
        news = news or any(of_page.values())
    return {**result, "news": news}


def changes_of_page(
    asker: Asker, query: QueryDict, changes: list[ChangedTicket]
) -> dict[str, list[str]]:
    """Return the tokens of the changes that concern a page and its user."""
    ids = {*query.get("shown", "").split(",")[:MOST_ROWS], query.get("ticket", "")}
    queue, me = queues.BY_SLUG.get(query.get("queue", "")), asker.agent_id
    if queue is not None and queue.leads_only and not asker.leads:
        queue = None
    return {
        "changed": [one.token for one in changes if str(one.ticket_id) in ids],
        "entered": [one.token for one in changes if queue and one.enters(queue.slug, me)],
        "mine": [one.token for one in changes if one.place.is_of(me)],
    }


def counts_for(asker: Asker, now: Snapshot) -> dict[str, str]:
    return {
        slug: queues.short_count(count) or ""
        for slug, count in now.counts.items()
        if asker.leads or not queues.BY_SLUG[slug].leads_only
    }


def number_in(text: str) -> float:
    """Parse a number; 0.0 if it is invalid."""
    try:
        return float(text) if len(text) < 20 else 0.0
    except ValueError:
        return 0.0
