"""Requests that were let in before their company was switched off, and when they have ended."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from companies.models import LAST_USED_PRECISION, ApiToken

# A session that we may not inspect could be doing anything.
OLDER_TRANSACTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND (query = '<insufficient privilege>'
    OR (backend_type = 'client backend' AND xact_start < %s))
"""


def wait_for_requests(
    company_id: int,
    since: datetime,
    longest: timedelta,
    show: Callable[[str], None],
    sleep: Callable[[float], None],
) -> None:
    """Wait until nobody who was let in before `since` works for the company.

    No request takes longer than `longest`. A token that was not used lately has none under way, and
    a batch of the feed looks at the company in the transaction that writes.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (switched_off_at,) = cursor.fetchone()
    used = ApiToken.objects.filter(company=company_id).aggregate(last=Max("last_used_at"))["last"]
    at_most = since + longest
    until = min(at_most, used + LAST_USED_PRECISION + longest) if used else since
    while (now := timezone.now()) < at_most:
        if now >= until and not count_older_transactions(switched_off_at):
            return
        remaining = ((until if now < until else at_most) - now).total_seconds()
        show(f"waiting for requests under way: {remaining:.0f} s at most")
        sleep(min(1.0, remaining))


def count_older_transactions(than: datetime) -> int:
    with connection.cursor() as cursor:
        # Within a transaction the server would repeat its earlier snapshot.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(OLDER_TRANSACTIONS, [than])
        number: int = cursor.fetchone()[0]
        return number
