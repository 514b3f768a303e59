import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone, translation

from companies.commands import CommandResult, OperatorCommand, for_terminal, parse_moment
from desk.people.audit_trail import DESK, Act, AuditFilters, act_place, acts

AT_ONCE = 500
FOLLOW_SECONDS = 1.0
# Entries carry the start of their transaction, so a long one shows up late with an old time.
OVERLAP = timedelta(minutes=5)


class Command(OperatorCommand):
    help = """Say who did what, newest first: commands, acts at the desk, by tasks and by API (on
webhooks and deliveries), and what the desk's pages changed (Django's log). What was done to a
ticket stands in its history. With --json a line for each. An act without an outcome is still under
way, or was killed."""
    example = (
        "python manage.py audit --since 24h --actor olga\n"
        "python manage.py audit --token live_3fK9aQ12\n"
        "python manage.py audit --act revoke_token --company 7 --json"
    )
    changes = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        when = "an ISO 8601 time, or how long ago: 90m, 24h, 7d"
        parser.add_argument("--since", type=parse_moment, metavar="T", help=when)
        parser.add_argument("--until", type=parse_moment, metavar="T", help="before this time")
        parser.add_argument("--actor", default="", help="a login, with its host or without")
        parser.add_argument(
            "--act", default="", help="a command's name, or add, change or delete of the desk"
        )
        parser.add_argument("--company", type=int, metavar="ID", help="done to this company")
        parser.add_argument(
            "--token", default="", metavar="PREFIX", help="by API, with the token that begins so"
        )
        parser.add_argument(
            "--limit", type=int, default=50, metavar="N", help="at most; 0: all; default 50"
        )
        parser.add_argument(
            "--follow", action="store_true", help="then wait for more, newest last, until Ctrl-C"
        )

    def run(self, *args: Any, limit: int, follow: bool, **options: Any) -> CommandResult:
        if limit < 0:
            raise CommandError("--limit takes 0 or more.")
        filters = AuditFilters(
            since=options["since"],
            until=options["until"],
            actor=options["actor"],
            act=options["act"],
            company_id=options["company"],
            token=options["token"],
        )
        entries = follow_entries(filters, limit) if follow else read_pages(filters, limit)
        return CommandResult(map(act_line, entries), map(act_row, entries))


def read_pages(filters: AuditFilters, limit: int) -> Iterator[Act]:
    remaining, before = limit or None, ""
    while remaining is None or remaining > 0:
        step = AT_ONCE if remaining is None else min(AT_ONCE, remaining)
        entries = acts_in_english(filters, before, step)
        yield from entries
        if len(entries) < step:
            return
        before, remaining = act_place(entries[-1]), None if remaining is None else remaining - step


def acts_in_english(filters: AuditFilters, before: str, step: int) -> list[Act]:
    # Operators see English, whatever the language of the desk.
    with translation.override("en"):
        return acts(filters, before=before, limit=step)


def follow_entries(filters: AuditFilters, limit: int) -> Iterator[Act]:
    """Yield the newest entries, oldest first, and then new ones as they come, each once."""
    first = list(read_pages(filters, limit))
    yield from reversed(first)
    printed = {one[1:3]: one.at for one in first}
    began = timezone.now() - OVERLAP
    # Entries older than the oldest shown were cut off by --limit and must not appear now.
    floor = max(began, first[-1].at) if first and len(first) == limit else began
    printed |= {one[1:3]: one.at for one in newer(filters, floor)}
    try:
        while True:
            time.sleep(FOLLOW_SECONDS)
            since_then = max(floor, timezone.now() - OVERLAP)
            printed = {key: at for key, at in printed.items() if at >= since_then}
            new = [one for one in newer(filters, since_then) if one[1:3] not in printed]
            printed |= {one[1:3]: one.at for one in new}
            yield from reversed(new)
    except KeyboardInterrupt:
        return


def newer(filters: AuditFilters, at: Any) -> list[Act]:
    later = at if filters.since is None else max(at, filters.since)
    return list(read_pages(replace(filters, since=later), 0))


def act_row(one: Act) -> dict[str, Any]:
    row = one._asdict()
    row["log"] = "desk" if row.pop("source") == DESK else "audit"
    return row


def act_line(one: Act) -> str:
    pairs = " ".join(f"{name}={value}" for name, value in one.details.items())
    parts = [one.act, one.about, pairs, f"→ {'no outcome' if one.outcome is None else one.outcome}"]
    text = for_terminal("  ".join(part for part in parts if part))
    return f"{one.at:%Y-%m-%d %H:%M:%S}  {for_terminal(one.actor):<20}  {one.via:<7}  {text}"
