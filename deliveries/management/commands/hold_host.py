from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies import audit
from companies.commands import CommandResult, OperatorCommand
from deliveries.engine import holding


class Command(OperatorCommand):
    help = """Send nothing more to a host until it is released, or for some hours. What is in flight
ends; deliveries wait, in order, and use up none of their retries. Loops notice within a second or
two. Companies see that it is held, until when, and what --tell-companies says."""
    example = (
        'python manage.py hold_host hooks.example.com --hours 6 --reason "ticket 4711"\n'
        "python manage.py hold_host --list"
    )
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("host", nargs="?", help="a name, or an address")
        what.add_argument("--list", action="store_true", help="show those that are held")
        parser.add_argument(
            "--reason", default="", help="for operators who wonder later; companies never see it"
        )
        parser.add_argument(
            "--tell-companies", default="", metavar="TEXT", help="the reason that they read"
        )
        parser.add_argument(
            "--hours", type=float, metavar="N", help="for so long; default: until it is released"
        )

    def acts(self, options: dict[str, Any]) -> bool:
        return super().acts(options) and not options["list"]

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return options["host"] or "", None

    def run(
        self,
        *args: Any,
        host: str | None,
        list: bool,
        reason: str,
        tell_companies: str,
        hours: float | None,
        dry_run: bool,
        **options: Any,
    ) -> CommandResult:
        if list or host is None:
            return list_held()
        if hours is not None and not 0 < hours <= holding.MOST_HOURS:
            raise CommandError(f"--hours takes more than 0, and {holding.MOST_HOURS} at most.")
        try:
            name = holding.parse_host(host)
            if not dry_run:
                by = audit.shell_user()
                holding.hold_host(
                    name, by=by, reason=reason, public_reason=tell_companies, hours=hours
                )
        except holding.InvalidHost as error:
            raise CommandError(str(error)) from error
        there = len(holding.webhooks_on([name]))
        text = f"{'would hold' if dry_run else 'holding'} {name}, webhooks there: {there}"
        return CommandResult(text, {"host": name, "held": not dry_run, "webhooks": there}, text)


def list_held() -> CommandResult:
    holds = holding.held_hosts()
    lines = [
        f"{each.host}  since {each.held_at:%Y-%m-%d %H:%M} UTC"
        f"{f' until {each.held_until:%Y-%m-%d %H:%M} UTC' if each.held_until else ''}, by {each.by}"
        f"{': ' if each.reason else ''}{each.reason}"
        for each in holds
    ]
    data = [
        {
            "host": each.host,
            "since": each.held_at,
            "until": each.held_until,
            "by": each.by,
            "reason": each.reason,
            "public_reason": each.public_reason,
        }
        for each in holds
    ]
    return CommandResult("\n".join(lines) or "no host is held", data)
