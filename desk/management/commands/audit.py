import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone, translation

from companies.commands import OperatorCommand, Said, for_terminal, moment_given
from desk.people.audit_trail import DESK, Act, Asked, act_place, acts

AT_ONCE = 500
FOLLOW_SECONDS = 1.0
# An act whose transaction took long shows up with the time at which it began.
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
        parser.add_argument("--since", type=moment_given, metavar="T", help=when)
        parser.add_argument("--until", type=moment_given, metavar="T", help="before this time")
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

    def run(self, *args: Any, limit: int, follow: bool, **options: Any) -> Said:
        if limit < 0:
            raise CommandError("--limit takes 0 or more.")
        asked = Asked(
            since=options["since"],
            until=options["until"],
            actor=options["actor"],
            act=options["act"],
            company_id=options["company"],
            token=options["token"],
        )
        found = following(asked, limit) if follow else pages(asked, limit)
        return Said(map(act_line, found), map(act_row, found))


def pages(asked: Asked, limit: int) -> Iterator[Act]:
    left, before = limit or None, ""
    while left is None or left > 0:
        step = AT_ONCE if left is None else min(AT_ONCE, left)
        found = acts_in_english(asked, before, step)
        yield from found
        if len(found) < step:
            return
        before, left = act_place(found[-1]), None if left is None else left - step


def acts_in_english(asked: Asked, before: str, step: int) -> list[Act]:
    # As operators know them, whatever language the desk is in.
    with translation.override("en"):
        return acts(asked, before=before, limit=step)


def following(asked: Asked, limit: int) -> Iterator[Act]:
    """The newest, oldest first, and then what comes: each once."""
    first = list(pages(asked, limit))
    yield from reversed(first)
    seen = {one[1:3]: one.at for one in first}
    began = timezone.now() - OVERLAP
    # What is older than the oldest that was shown was left out by --limit.
    floor = max(began, first[-1].at) if first and len(first) == limit else began
    seen |= {one[1:3]: one.at for one in since(asked, floor)}
    try:
        while True:
            time.sleep(FOLLOW_SECONDS)
            since_then = max(floor, timezone.now() - OVERLAP)
            seen = {key: at for key, at in seen.items() if at >= since_then}
            new = [one for one in since(asked, since_then) if one[1:3] not in seen]
            seen |= {one[1:3]: one.at for one in new}
            yield from reversed(new)
    except KeyboardInterrupt:
        return


def since(asked: Asked, at: Any) -> list[Act]:
    later = at if asked.since is None else max(at, asked.since)
    return list(pages(replace(asked, since=later), 0))


def act_row(one: Act) -> dict[str, Any]:
    row = one._asdict()
    row["log"] = "desk" if row.pop("source") == DESK else "audit"
    return row


def act_line(one: Act) -> str:
    given = " ".join(f"{name}={value}" for name, value in one.details.items())
    parts = [one.act, one.about, given, f"→ {'no outcome' if one.outcome is None else one.outcome}"]
    said = for_terminal("  ".join(part for part in parts if part))
    return f"{one.at:%Y-%m-%d %H:%M:%S}  {for_terminal(one.actor):<20}  {one.via:<7}  {said}"
