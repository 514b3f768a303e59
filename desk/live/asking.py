"""What open pages ask again and again: what is new for me?

Who asked within the last minute is known by their session's cookie and gets the answer at once,
from memory, without a session or a user being read: one statement with each reading of news tells
whose sessions have ended, for all of them. That answer has numbers alone: whatever is shown is
asked for from pages that look at the session each time.
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
from desk.live.changes import KEPT_SECONDS, WATCHER, ChangedTicket, Snapshot
from desk.queue import queues
from tickets.models import Agent

ADDRESS = "/admin/live/"
KNOWN_SECONDS = 60.0
MOST_KNOWN = 10_000
MOST_ROWS = 200
# Known askers whose session still opens the desk.
STILL_IN = """
SELECT known.session
FROM unnest(%(sessions)s::text[], %(users)s::integer[], %(passwords)s::text[])
  AS known (session, user_id, password)
JOIN django_session ON session_key = known.session AND expire_date > clock_timestamp()
JOIN auth_user ON id = known.user_id AND is_active AND is_staff
  AND auth_user.password = known.password
"""


class Asker(NamedTuple):
    """User who has a page open."""

    user_id: int
    agent_id: int | None
    leads: bool
    # The stored form: another one ends the session.
    password: str


class Askers(Recent[Asker]):
    """Return those of this process, by their session."""

    checked_at = 0.0

    def drop_ended(self, at: float) -> None:
        """Forget those who were signed out or switched off, once for each reading of news."""
        if at == self.checked_at:
            return
        self.checked_at = at
        known = self.known()
        stored = {stored_key(key): key for key in known}
        values = {
            "sessions": list(stored),
            "users": [one.user_id for one in known.values()],
            "passwords": [one.password for one in known.values()],
        }
        still = {session for (session,) in statements.fetch_rows(STILL_IN, values)}
        for session in stored.keys() - still:
            self.forget(stored[session])


ASKERS = Askers(MOST_KNOWN)


class Server:
    """What the web server says of itself when it starts."""

    # Whether it keeps requests until there is news; where it does, pages need not pause for long.
    keeps_requests = False


class LiveAnswers:
    """Middleware before sessions: answers whoever is known."""

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
    """Answers who is signed in and remembers them; 401 for everybody else."""
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


def live_answer(asker: Asker, asked: QueryDict, now: Snapshot) -> HttpResponse:
    news = news_for(asker, asked, now)
    response = JsonResponse({**news, "waits": Server.keeps_requests})
    response["Cache-Control"] = "no-store"
    # The middleware that would say so comes after ours.
    response["Content-Length"] = str(len(response.content))
    return response


def news_for(asker: Asker, asked: QueryDict, now: Snapshot) -> dict[str, Any]:
    """What is new since the page was answered last; `known` are the tokens that it heard lately.

    `changed` has the tokens of tickets that the page shows, `entered` of those that came into its
    queue, `mine` of those that are the asker's own. `stale` where more may have happened than is
    known. `news` says whether there is anything at all.
    """
    since = number_in(asked.get("since", ""))
    notified = now.notified.get(asker.user_id, 0.0)
    found: dict[str, Any] = {"now": now.at, "notified": notified, "counted": now.counted}
    news = not since or notified > number_in(asked.get("notified", ""))
    if str(now.counted) != asked.get("counted"):
        found["counts"], news = counts_for(asker, now), True
    if since and since < now.at - KEPT_SECONDS:
        return {**found, "stale": True, "news": True}
    known = set(asked.get("known", "").split(",")[:MOST_ROWS])
    changes = [one for one in now.since(since) if one.token not in known] if since else []
    if changes:
        of_page = changes_of_page(asker, asked, changes)
        found |= of_page
        news = news or any(of_page.values())
    return {**found, "news": news}


def changes_of_page(
    asker: Asker, asked: QueryDict, changes: list[ChangedTicket]
) -> dict[str, list[str]]:
    """The tokens of the changes that concern a page and who looks at it."""
    shown = {*asked.get("shown", "").split(",")[:MOST_ROWS], asked.get("ticket", "")}
    queue, me = queues.BY_SLUG.get(asked.get("queue", "")), asker.agent_id
    if queue is not None and queue.leads_only and not asker.leads:
        queue = None
    return {
        "changed": [one.token for one in changes if str(one.ticket_id) in shown],
        "entered": [one.token for one in changes if queue and one.enters(queue.slug, me)],
        "mine": [one.token for one in changes if one.place.is_of(me)],
    }


def counts_for(asker: Asker, now: Snapshot) -> dict[str, str]:
    """The badges, as they are shown."""
    return {
        slug: queues.short_count(count) or ""
        for slug, count in now.counts.items()
        if asker.leads or not queues.BY_SLUG[slug].leads_only
    }


def number_in(text: str) -> float:
    """Nothing where it is no number."""
    try:
        return float(text) if len(text) < 20 else 0.0
    except ValueError:
        return 0.0
