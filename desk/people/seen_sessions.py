"""Where each session began and was seen last, so that its owner knows it again in a list.

The row is known by a digest of the session's key, and written once in five minutes at most.
Why: decision page desk-sessions-are-listed-and-ended.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db import connection
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from companies.known_callers import CALLERS
from core.data.old_rows import delete_in_steps
from core.data.recent import Recent
from desk.common.session_store import session_digest
from desk.models import SeenSession
from desk.people.signing_in import client_address

EVERY_SECONDS = 300
MOST_KNOWN = 10_000
# What open pages ask by themselves tells nothing of whether somebody is there.
BY_ITSELF = "/admin/live/"

NOTE = """
INSERT INTO desk_seensession AS known
  (digest, user_id, browser, system, address, began_at, seen_at)
VALUES (%(digest)s, %(user)s, %(browser)s, %(system)s, %(address)s,
  CASE WHEN %(begins)s THEN statement_timestamp() END, statement_timestamp())
ON CONFLICT (digest) DO UPDATE SET
  browser = excluded.browser, system = excluded.system, address = excluded.address,
  seen_at = excluded.seen_at
WHERE known.seen_at < excluded.seen_at - make_interval(secs => %(every)s)
"""

# The first that fits: most browsers claim to be others too.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Windows", "Windows"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


# The sessions that this process has noted lately.
NOTED = Recent[bool](MOST_KNOWN)


class SeenSessions:
    """Middleware: notes who is there. It costs a statement in five minutes of each session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/") or request.path.startswith(BY_ITSELF):
            return self.get_response(request)
        before = request.session.session_key
        response = self.get_response(request)
        key = request.session.session_key
        if key and request.user.is_authenticated:
            CALLERS.remember("session", key, f"user {request.user.pk}")
            if not NOTED.find(session_digest(key)):
                if before and before != key:
                    follow_session(request.user, before, key)
                note_session(request, request.user, key)
        return response


@receiver(user_logged_in)
def note_begun(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    if request.session.session_key:
        note_session(request, user, request.session.session_key, begins=True)


def note_session(request: HttpRequest, user: User, key: str, *, begins: bool = False) -> None:
    """Write down that it was seen, unless that was done within five minutes."""
    digest = session_digest(key)
    agent = request.headers.get("User-Agent", "")
    with connection.cursor() as cursor:
        cursor.execute(
            NOTE,
            {
                "digest": digest,
                "user": user.pk,
                "browser": word_for(agent, BROWSERS),
                "system": word_for(agent, SYSTEMS),
                "address": client_address(request),
                "begins": begins,
                "every": EVERY_SECONDS,
            },
        )
    NOTED.keep(digest, True, EVERY_SECONDS)


def follow_session(user: User, before: str, key: str) -> None:
    """The key has changed, as behind a second factor or a new password; the session is the same."""
    seen = SeenSession.objects.filter(pk=session_digest(before), user=user)
    seen.update(digest=session_digest(key))


def word_for(agent: str, known: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in known if mark in agent), "")


def forget_unseen(*, dry_run: bool = False) -> int:
    """Delete what is known of sessions that have expired; returns how many."""
    lifetime = timedelta(seconds=settings.SESSION_COOKIE_AGE + EVERY_SECONDS)
    gone = SeenSession.objects.filter(seen_at__lt=timezone.now() - lifetime)
    return delete_in_steps(gone.order_by("seen_at"), dry_run=dry_run)
