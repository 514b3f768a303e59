import time
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from companies.commands import CommandResult, OperatorCommand, for_terminal
from deliveries.engine.slots import SLOTS
from deliveries.monitoring import queue_picture
from deliveries.monitoring.queue_picture import GROUPS, Totals, WaitingGroup

MEASURED_SECONDS = 1.0
# A slow query is cancelled before it becomes the load.
STATEMENT_TIMEOUT = "5s"


class Command(OperatorCommand):
    help = """Show the queue: what waits, is due and is in flight, who works on it and how fast, and
which webhooks, hosts or companies have waited longest. Counts with a + stopped there."""
    example = "python manage.py queue --by host\npython manage.py queue --json"
    changes = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--by", choices=GROUPS, default="webhook", help="default: webhook")
        parser.add_argument(
            "--limit", type=int, default=20, metavar="N", help="rows at most; default 20"
        )

    def run(self, *args: Any, by: str, limit: int, **options: Any) -> CommandResult:
        if not 1 <= limit <= queue_picture.MOST_GROUPED:
            raise CommandError(f"--limit takes 1 to {queue_picture.MOST_GROUPED}.")
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", [STATEMENT_TIMEOUT])
        before = queue_picture.attempts_mark()
        time.sleep(MEASURED_SECONDS)
        totals = queue_picture.queue_totals()
        now = queue_picture.attempts_mark()
        totals.attempts_per_second = queue_picture.rate_between(before, now)
        rows = queue_picture.oldest_waiting(by, limit)
        data = {
            "totals": asdict(totals) | {"slots": totals.loops * SLOTS},
            "by": by,
            "oldest": [row.as_data() for row in rows],
        }
        return CommandResult("\n".join(lines_of(totals, rows, by, timezone.now())), data)


def lines_of(totals: Totals, rows: list[WaitingGroup], by: str, now: datetime) -> list[str]:
    rate = totals.attempts_per_second
    due = f"{totals.due}{'+' if totals.due_cut else ''}"
    head = [
        f"waiting {totals.waiting}  due {due}  in flight {totals.in_flight}"
        f"  attempts/s {'-' if rate is None else f'{rate:.1f}'}",
        f"loops {totals.loops} on {totals.hosts} hosts, {totals.loops * SLOTS} slots"
        f"  webhooks resting {totals.resting_webhooks}, paused {totals.paused_webhooks}"
        f"  hosts held {totals.held_hosts}",
        "",
        f"{'oldest':>8}  {'waiting':>8}  {'due':>7}  {'flying':>6}  {'condition':<18}  {by}",
    ]
    return head + [row_line(row, now) for row in rows]


def row_line(row: WaitingGroup, now: datetime) -> str:
    more = "+" if row.cut else ""
    return (
        f"{span_text(row.oldest, now):>8}  {f'{row.waiting}{more}':>8}  {f'{row.due}{more}':>7}"
        f"  {row.in_flight:>6}  {row.condition:<18}  {for_terminal(row.name)}"
    )


def span_text(since: datetime | None, now: datetime) -> str:
    """Return the time passed, in its two largest units: `3d 4h`, `12m 5s`."""
    seconds = max(0, int((now - since).total_seconds())) if since else 0
    days, hours, minutes = seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {seconds % 60}s"
