"""Record of where each session began and was last seen, so that its owner recognizes it.

Rows are keyed by a digest of the session's key, and written at most every five minutes.
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
# Open pages poll these by themselves, so they do not count as activity.
BY_ITSELF = "/admin/live/"

RECORD = """
INSERT INTO desk_seensession AS known
  (digest, user_id, browser, system, address, began_at, seen_at)
VALUES (%(digest)s, %(user)s, %(browser)s, %(system)s, %(address)s,
  CASE WHEN %(begins)s THEN statement_timestamp() END, statement_timestamp())
ON CONFLICT (digest) DO UPDATE SET
  browser = excluded.browser, system = excluded.system, address = excluded.address,
  seen_at = excluded.seen_at
WHERE known.seen_at < excluded.seen_at - make_interval(secs => %(every)s)
"""

# The first match wins: most browsers also claim to be others.
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


# Sessions that this process has recorded within EVERY_SECONDS.
RECENTLY_RECORDED = Recent[bool](MOST_KNOWN)


class SeenSessions:
    """Middleware that records activity: one statement per session every five minutes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/") or request.path.startswith(BY_ITSELF):
            return self.get_response(request)
        old_key = request.session.session_key
        response = self.get_response(request)
        key = request.session.session_key
        if key and request.user.is_authenticated:
            CALLERS.remember("session", key, f"user {request.user.pk}")
            if not RECENTLY_RECORDED.find(session_digest(key)):
                if old_key and old_key != key:
                    follow_session(request.user, old_key, key)
                record_session(request, request.user, key)
        return response


@receiver(user_logged_in)
def record_sign_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    if request.session.session_key:
        record_session(request, user, request.session.session_key, begins=True)


def record_session(request: HttpRequest, user: User, key: str, *, begins: bool = False) -> None:
    """Record that the session was seen, unless its row is newer than EVERY_SECONDS."""
    digest = session_digest(key)
    agent = request.headers.get("User-Agent", "")
    with connection.cursor() as cursor:
        cursor.execute(
            RECORD,
            {
                "digest": digest,
                "user": user.pk,
                "browser": name_in(agent, BROWSERS),
                "system": name_in(agent, SYSTEMS),
                "address": client_address(request),
                "begins": begins,
                "every": EVERY_SECONDS,
            },
        )
    RECENTLY_RECORDED.keep(digest, True, EVERY_SECONDS)


def follow_session(user: User, old_key: str, new_key: str) -> None:
    """Move the row to a new key of the same session, as after a second factor or a new password."""
    rows = SeenSession.objects.filter(pk=session_digest(old_key), user=user)
    rows.update(digest=session_digest(new_key))


def name_in(agent: str, names_by_mark: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in names_by_mark if mark in agent), "")


def forget_unseen(*, dry_run: bool = False) -> int:
    """Delete records of expired sessions; returns their number."""
    lifetime = timedelta(seconds=settings.SESSION_COOKIE_AGE + EVERY_SECONDS)
    expired = SeenSession.objects.filter(seen_at__lt=timezone.now() - lifetime)
    return delete_in_steps(expired.order_by("seen_at"), dry_run=dry_run)
