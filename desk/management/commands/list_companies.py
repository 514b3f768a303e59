from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from companies.commands import CommandResult, OperatorCommand, for_terminal
from desk.people.company_glances import CompanyGlance, company_glances

HEAD = f"{'id':>8}  {'active':<6}  {'webhooks':<14}  {'open':>6}  {'waiting':>8}  {'last used':<16}"


class Command(OperatorCommand):
    help = (
        "List the companies: webhooks, open tickets, deliveries that wait, and when the API was"
        " used last. With --json a line for each."
    )
    example = 'python manage.py list_companies --search "acme"'
    changes = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--inactive", action="store_true", help="those that are switched off")
        parser.add_argument("--search", default="", metavar="TEXT", help="with this in their name")
        parser.add_argument("--limit", type=int, metavar="N", help="the first so many")

    def run(
        self, *args: Any, inactive: bool, search: str, limit: int | None, **options: Any
    ) -> CommandResult:
        glances = company_glances(inactive=inactive, search=search, limit=limit)
        return CommandResult(glance_lines(glances), map(glance_row, glances))


def glance_row(one: CompanyGlance) -> dict[str, Any]:
    return {
        "id": one.company.pk,
        "name": one.company.name,
        "active": one.company.active,
        "webhooks_active": one.webhooks_active,
        "webhooks_paused": one.webhooks_paused,
        "open_tickets": one.open_tickets,
        "waiting": one.waiting,
        "waiting_is_more": one.waiting_cut,
        "last_used_at": one.last_used_at,
    }


def glance_lines(glances: Iterator[CompanyGlance]) -> Iterator[str]:
    yield f"{HEAD}  name"
    for one in glances:
        webhooks = f"{one.webhooks_active}"
        if one.webhooks_paused:
            webhooks += f" ({one.webhooks_paused} paused)"
        waiting = f"{one.waiting}{'+' if one.waiting_cut else ''}"
        used = f"{one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else "never"
        yield (
            f"{one.company.pk:>8}  {'yes' if one.company.active else 'no':<6}  {webhooks:<14}"
            f"  {one.open_tickets:>6}  {waiting:>8}  {used:<16}  {for_terminal(one.company.name)}"
        )
