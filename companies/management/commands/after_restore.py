import json
from argparse import ArgumentTypeError
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from companies import erased_lists, erasing, restoring, services
from companies.commands import CommandResult, OperatorCommand, parse_moment
from companies.models import ApiToken
from companies.models.tokens import lives

# Covers differences of the platform's and the database's clocks, and lines under way.
OVERLAP = timedelta(minutes=5)
COMPANIES_SEE = (
    "deliveries that were under way when the backup was made come again, under the same"
    " X-Webhook-Id",
    "tickets, webhooks and events since the backup are gone; their ids are given to nobody else",
    "numbers jump: the next ticket and the next X-Webhook-Sequence are far ahead",
    "a cursor from the lost time is answered with 410 cursor_expired: begin again without it",
)


class Command(OperatorCommand):
    help = """Finish a restore, before anything is started on the restored database: move the ids
that the lost database may have given away out of reach, erase again what was erased since the
backup, revoke again what was revoked, and say what is left to do. Asks for the name of the
database before it acts. It may be stopped and run again."""
    example = """python manage.py after_restore --dry-run
python manage.py after_restore --erased erased.jsonl --tokens tokens.jsonl
python manage.py after_restore --seen tickets_ticket=5120 --confirm parceldesk
python manage.py after_restore --nothing-lost --confirm parceldesk"""
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--confirm", metavar="DATABASE", help="its name, where nobody is asked")
        parser.add_argument(
            "--lost-since",
            type=parse_moment,
            metavar="T",
            help="time of the backup, ISO 8601 or 24h; by default that of the newest row",
        )
        parser.add_argument(
            "--margin",
            type=whole_number,
            default=restoring.LEAST,
            metavar="N",
            help="move each sequence by so many at least (%(default)s)",
        )
        parser.add_argument(
            "--seen",
            type=table_and_id,
            action="append",
            default=[],
            metavar="TABLE=ID",
            help="an id that somebody was given: move past it",
        )
        parser.add_argument("--erased", metavar="FILE", help="what erase_company --list wrote")
        parser.add_argument("--erase", nargs="+", type=int, default=[], metavar="ID", help="these")
        parser.add_argument("--tokens", metavar="FILE", help="what list_tokens --all --json wrote")
        parser.add_argument(
            "--nothing-lost", action="store_true", help="note this database, and do nothing else"
        )

    def run(self, **options: Any) -> CommandResult:
        if options["nothing_lost"]:
            return self.note_alone(options)
        since, steps = self.planned(options)
        due = self.erasures(options)
        revoke, reissue, live = compare_tokens(options["tokens"])
        data = {
            "database": database_name(),
            "noticed": restoring.is_restored(),
            "lost_since": since,
            "sequences": [step._asdict() for step in steps],
            "erase": due,
            "revoke": [str(token) for token in revoke],
            "reissue": reissue,
            "live_tokens": live,
            "feed_since": since - OVERLAP,
            "companies_see": COMPANIES_SEE,
            "done": not options["dry_run"],
        }
        if options["dry_run"]:
            return CommandResult(restore_report(data), data)
        self.confirm(options["confirm"])
        steps = restoring.begin_repair(steps, since)
        restoring.move_sequences(steps, self.show)
        for token in revoke:
            services.revoke_token(token.prefix)
        try:
            erased_lists.erase_again(due, self.show)
        except (services.UnknownCompany, erasing.Overtaken) as error:
            raise CommandError(f"{error} Run this again.") from error
        restoring.note_origin(again=True)
        outcome = f"moved {len(steps)} sequences, revoked {len(revoke)}, erased {len(due)}"
        return CommandResult(restore_report(data), data, outcome)

    def planned(self, options: dict[str, Any]) -> tuple[datetime, list[restoring.SequenceMove]]:
        """Plan the moves of sequences, or continue the plan of an interrupted run."""
        if interrupted := restoring.interrupted_repair():
            since = parse_datetime(interrupted["lost_since"]) or timezone.now()
            return since, [restoring.SequenceMove(*step) for step in interrupted["steps"]]
        since = options["lost_since"] or restoring.newest_row() or timezone.now()
        steps = restoring.plan(since, margin=options["margin"], used_ids=dict(options["seen"]))
        if unknown := {table for table, _ in options["seen"]} - {step.table for step in steps}:
            tables = ", ".join(sorted(step.table for step in steps))
            raise CommandError(f"No table {unknown.pop()} gives ids. There are: {tables}.")
        return since, steps

    def erasures(self, options: dict[str, Any]) -> list[int]:
        """Find companies to erase again. Raises CommandError for an invalid list."""
        listed = [(company_id, timezone.now()) for company_id in options["erase"]]
        if options["erased"]:
            try:
                listed += erased_lists.read_list(Path(options["erased"]))
            except (OSError, ValueError) as error:
                raise CommandError(str(error)) from error
        return sorted(set(erased_lists.still_due(listed)))

    def confirm(self, answer: str | None) -> None:
        """Ask for the name of the database. Raises CommandError unless it is right."""
        name = database_name()
        if answer is None and self.stdout.isatty():
            answer = input(f"This changes the database {name}. Write its name: ")
        if answer is None:
            raise CommandError(f"Confirm with --confirm {name}, or look first with --dry-run.")
        if answer.strip() != name:
            raise CommandError(f"This is the database {name}. Nothing was changed.")

    def note_alone(self, options: dict[str, Any]) -> CommandResult:
        if not options["dry_run"]:
            self.confirm(options["confirm"])
            restoring.note_origin(again=True)
        return CommandResult(
            "noted this database; nothing else changed", {"database": database_name()}
        )


def database_name() -> str:
    return str(connection.settings_dict["NAME"])


def whole_number(text: str) -> int:
    """Parse a whole number. Raises ArgumentTypeError."""
    if not text.isdecimal() or not 0 < int(text) <= 10**12:
        raise ArgumentTypeError("Send a whole number from 1 to 10^12.")
    return int(text)


def table_and_id(text: str) -> tuple[str, int]:
    """Parse TABLE=ID. Raises ArgumentTypeError."""
    table, _, number = text.partition("=")
    if not table or not number.isdecimal() or int(number) > 10**15:
        raise ArgumentTypeError("Write TABLE=ID, such as tickets_ticket=5120.")
    return table, int(number)


def compare_tokens(file: str | None) -> tuple[list[ApiToken], list[str], int]:
    """Compare the tokens with a list from later than the backup.

    Returns tokens to revoke again, a line for each that is gone, and the number of live ones.
    Raises CommandError for an invalid list.
    """
    live = {str(token): token for token in ApiToken.objects.filter(lives(timezone.now()))}
    there = {str(token) for token in ApiToken.objects.all()}
    revoke, reissue = [], []
    try:
        lines = Path(file).read_text().splitlines() if file else []
        for row in map(json.loads, lines):
            token, state, company_id = row["token"], row["state"], int(row["company_id"])
            if state == "revoked" and token in live:
                revoke.append(live[token])
            elif state == "live" and token not in there:
                reissue.append(f"{token} of company {company_id}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(
            f"{file} is no list that list_tokens --all --json has written: {error}"
        ) from error
    return revoke, reissue, len(live) - len(revoke)


def restore_report(data: dict[str, Any]) -> str:
    return "\n".join(restore_lines(data))


def restore_lines(data: dict[str, Any]) -> Iterator[str]:
    will = "" if data["done"] else "would be "
    yield f"database {data['database']}, as of {data['lost_since']:%Y-%m-%d %H:%M:%S} UTC"
    if not data["noticed"]:
        yield "It looks like the one that was in use: nothing says that it was restored."
    for step in data["sequences"]:
        yield f"  {step['table']}: the next id {will}above {step['target']} (was {step['last']})"
    yield f"companies {will}erased again: {', '.join(map(str, data['erase'])) or 'none'}"
    yield f"tokens {will}revoked again: {', '.join(data['revoke']) or 'none'}"
    for line in data["reissue"]:
        yield f"gone with the backup, issue a new one: {line}"
    yield "Now:"
    yield f"- feed again what the platform sent since {data['feed_since']:%Y-%m-%dT%H:%M:%SZ}"
    yield (
        f"- {data['live_tokens']} API tokens are live: revoke with revoke_token what was revoked"
        " since the backup; list_tokens shows them, list_platform_tokens the platform's"
    )
    yield "- switch off again the people who were switched off since the backup; end_sessions USER"
    yield "- end again the links and sessions of the company's page that were ended; revoke_links"
    yield "- erase and anonymise again what was erased or anonymised since the backup"
    yield "- then start web and worker, and run doctor"
    yield "Companies see:"
    for line in data["companies_see"]:
        yield f"- {line}"
