from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone, translation

from companies.commands import CommandResult, OperatorCommand
from tickets.automations.due import MOST_COUNTED, due, order_of
from tickets.automations.switching import automations
from tickets.models import Automation

WAITS = {
    Automation.Kind.REMIND: ("wait_days", "times"),
    Automation.Kind.CLOSE: ("wait_days", "last_days"),
    Automation.Kind.ESCALATE: ("hours_before", "reassigns"),
}
LINE = "{kind:<9} {type:<18} {state:<4} {waits}"


class Command(OperatorCommand):
    help = """List the automations of every ticket type: which are on, and how long they wait.

With --dry-run also which tickets each that is on would touch now, at most a thousand, without
touching any; with --all those of the others too. Leads switch them on and off at the desk."""
    example = "python manage.py automations --dry-run --json"
    changes = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="say what they would touch now")
        parser.add_argument("--all", action="store_true", help="also what is off would touch")

    def run(self, *args: Any, dry_run: bool, **options: Any) -> CommandResult:
        # English names for operators, whatever the language of the desk.
        with translation.override("en"):
            rows = [
                automation_row(one, tickets=dry_run and (one.active or options["all"]))
                for one in automations()
            ]
        return CommandResult("\n".join(map(automation_lines, rows)), rows)


def automation_row(one: Automation, *, tickets: bool) -> dict[str, Any]:
    """Return an automation's settings, with `tickets` also the ids that it would touch now."""
    about = {"kind": one.kind, "type_id": one.type_id, "type": str(one.type), "active": one.active}
    settings = {name: getattr(one, name) for name in WAITS[Automation.Kind(one.kind)]}
    if not tickets:
        return {**about, **settings}
    order = order_of(one)
    would = due(one, timezone.now()).order_by(order, "pk").values_list("pk", flat=True)
    return {**about, **settings, "would_touch": list(would[:MOST_COUNTED])}


def automation_lines(one: dict[str, Any]) -> str:
    """Format a line for the automation, and one for the tickets that it would touch."""
    waits = WAITS[Automation.Kind(one["kind"])]
    line = LINE.format(
        kind=one["kind"],
        type=one["type"],
        state="on" if one["active"] else "off",
        waits=", ".join(f"{name} {one[name]}" for name in waits),
    )
    if "would_touch" not in one:
        return line
    ids = " ".join(map(str, one["would_touch"])) or "none"
    return f"{line}\n  would touch {len(one['would_touch'])}: {ids}"
