import os
import time
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from companies.commands import OperatorCommand, Said, for_terminal
from companies.screen import draw_until_enough
from deliveries.engine.rooms import SLOTS
from deliveries.monitoring import queue_picture
from deliveries.monitoring.queue_picture import GROUPS, Mark, Totals, WaitingGroup

# For a rate that is told once.
MEASURED_SECONDS = 1.0
# The picture is given up before it becomes the load.
STATEMENT_TIMEOUT = "5s"
HEAD_LINES = 5


class Command(OperatorCommand):
    help = """Show the queue: what waits, is due and is in flight, who works on it and how fast, and
which webhooks, hosts or companies have waited longest. On a terminal the picture is drawn anew
every second, until q or Ctrl-C; into a file or a pipe it is written once. Counts with a + stopped
there."""
    example = "python manage.py queue --by host\npython manage.py queue --json"
    changes = False
    before: Mark | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--by", choices=GROUPS, default="webhook", help="default: webhook")
        parser.add_argument(
            "--limit", type=int, default=20, metavar="N", help="rows at most; default 20"
        )
        parser.add_argument("--once", action="store_true", help="print it once, also on a terminal")

    def run(self, *args: Any, by: str, limit: int, once: bool, **options: Any) -> Said:
        if not 1 <= limit <= queue_picture.MOST_GROUPED:
            raise CommandError(f"--limit takes 1 to {queue_picture.MOST_GROUPED}.")
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", [STATEMENT_TIMEOUT])
        self.before = queue_picture.attempts_mark()
        if not (self.as_json or once) and self.stdout.isatty():
            draw_until_enough(self.stdout.fileno(), lambda size: self.picture(by, limit, size))
            return Said(iter(()), None)
        time.sleep(MEASURED_SECONDS)
        totals, rows = self.look(by, limit)
        data = {
            "totals": asdict(totals) | {"slots": totals.loops * SLOTS},
            "by": by,
            "oldest": [row.as_data() for row in rows],
        }
        return Said("\n".join(lines_of(totals, rows, by, timezone.now())), data)

    def look(self, by: str, limit: int) -> tuple[Totals, list[WaitingGroup]]:
        totals = queue_picture.queue_totals()
        mark = queue_picture.attempts_mark()
        totals.attempts_per_second = queue_picture.rate_between(self.before, mark)
        self.before = mark
        return totals, queue_picture.oldest_waiting(by, limit)

    def picture(self, by: str, limit: int, size: os.terminal_size) -> list[str]:
        now = timezone.now()
        try:
            room = max(1, size.lines - HEAD_LINES)
            totals, rows = self.look(by, min(limit, room))
        except (DatabaseError, InterfaceError) as error:
            connection.close_if_unusable_or_obsolete()
            said = str(error).strip().partition("\n")[0]
            return [f"{now:%H:%M:%S} UTC  q: quit", "", f"no answer: {said}"]
        return [f"{now:%H:%M:%S} UTC  q: quit", *lines_of(totals, rows, by, now)]


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
    """How long ago, in the two largest units: `3d 4h`, `12m 5s`."""
    seconds = max(0, int((now - since).total_seconds())) if since else 0
    days, hours, minutes = seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60
    if days:
        return f"{days}d {hours}h"
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {seconds % 60}s"
