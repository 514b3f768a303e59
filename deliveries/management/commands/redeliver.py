from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from companies import audit
from companies.commands import CommandResult, OperatorCommand, parse_moment
from deliveries import redelivery
from deliveries.engine import holding
from deliveries.models import STATES, Replay, State
from deliveries.upkeep import replaying
from deliveries.upkeep.choosing import Choice, ChosenCount, WaitsFor, count_chosen

FILTERS = ("webhook", "company_id", "host", "since", "until")
REASONS = {
    WaitsFor.PAUSED: "their webhook is paused",
    WaitsFor.INACTIVE: "their company is inactive",
    WaitsFor.HOST_HELD: "their host is held",
}
UNCONFIRMED = 2


class Command(OperatorCommand):
    help = f"""Send deliveries again: one, or those of a webhook, a company, a host or a time. By
default only those that were given up.

Up to {replaying.FEW:,} are sent at once. More become a run, {replaying.USUAL_RATE} a second unless
--rate says otherwise, which workers take further by themselves. Their number has to be confirmed:
it is asked for on a terminal, else give --confirm."""
    example = """python manage.py redeliver --webhook 12 --since 2026-01-02T08:00Z --dry-run
python manage.py redeliver --company 7 --since 2026-01-02 --rate 50 --confirm 110602
python manage.py redeliver --list
python manage.py redeliver --stop 3"""
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add = parser.add_argument
        add("--delivery", type=UUID, metavar="ID", help="this one, by its X-Webhook-Id")
        add("--webhook", type=int, metavar="ID", help="deliveries of this webhook")
        add("--company", type=int, dest="company_id", metavar="ID", help="of this company")
        add("--host", help="to this host, whatever the port")
        add("--type", type=int, metavar="ID", help="of this event type")
        add("--since", type=parse_moment, metavar="T", help="created then (ISO 8601, 24h) or later")
        add("--until", type=parse_moment, metavar="T", help="created before this; default: now")
        add("--state", choices=STATES, default="given_up", help="default: %(default)s")
        rate = f"so many a second, {replaying.MOST_A_SECOND:,} at most"
        add("--rate", type=int, metavar="PER_SECOND", help=rate)
        add("--confirm", type=int, metavar="N", help="how many they are, for who is not asked")
        add("--list", action="store_true", help="show the runs, the newest first")
        add("--stop", type=int, metavar="RUN", help="have a run make nothing more due")

    def acts(self, options: dict[str, Any]) -> bool:
        return super().acts(options) and not options["list"]

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        stopped = options["stop"]
        return "" if stopped is None else f"run {stopped}", options["company_id"]

    def run(self, *args: Any, **options: Any) -> CommandResult:
        if options["list"]:
            return list_runs()
        if options["stop"] is not None:
            return stop_run(options["stop"], dry_run=options["dry_run"])
        if options["delivery"] is not None:
            return redeliver_one(options["delivery"], dry_run=options["dry_run"])
        if all(options[name] is None for name in FILTERS):
            raise CommandError("Give --delivery, --webhook, --company, --host, --since or --until.")
        return self.send_many(choice_from(options), **options)

    def send_many(
        self,
        choice: Choice,
        *,
        rate: int | None,
        confirm: int | None,
        dry_run: bool,
        **options: Any,
    ) -> CommandResult:
        chosen = count_chosen(choice, show=self.show)
        self.show("")
        if dry_run:
            return output_of(f"{chosen.deliveries} would be sent again", chosen, sent=0)
        if confirm is None and chosen.deliveries > replaying.FEW:
            confirm = self.ask(chosen)
        try:
            result = replaying.send_chosen(
                choice, chosen, by=audit.shell_user(), rate=rate, confirmed=confirm
            )
        except replaying.BadRate as error:
            raise CommandError(str(error)) from error
        except replaying.NotConfirmed as error:
            text = f"{chosen_words(chosen)}. Confirm with --confirm {chosen.deliveries}."
            raise CommandError(text, returncode=UNCONFIRMED) from error
        if isinstance(result, int):
            return output_of(f"{result} will be sent again", chosen, sent=result)
        text = f"run {result.pk}: {chosen.deliveries} will be sent again, {result.rate} a second"
        return output_of(text, chosen, sent=0, run=result.pk, rate=result.rate)

    def ask(self, chosen: ChosenCount) -> int | None:
        """Return the number typed on a terminal; None if there is none. Raises CommandError."""
        if not (self.stdout.isatty() and not self.as_json):
            return None
        self.stdout.write(f"{chosen_words(chosen)}.")
        typed = input("Send again? Type the number: ")
        digits = typed.strip().replace(",", "")
        if not (digits.isascii() and digits.isdecimal()) or int(digits) != chosen.deliveries:
            raise CommandError("That is not the number. Nothing is sent again.")
        return int(digits)


def choice_from(options: dict[str, Any]) -> Choice:
    """Return the choice that the options describe. Raises CommandError."""
    now = timezone.now()
    until = options["until"]
    try:
        host = "" if options["host"] is None else holding.parse_host(options["host"])
    except holding.InvalidHost as error:
        raise CommandError(str(error)) from error
    return Choice(
        until=now if until is None else min(until, now),
        since=options["since"],
        state=STATES[options["state"]],
        webhook_id=options["webhook"],
        company_id=options["company_id"],
        type_id=options["type"],
        host=host,
    )


def chosen_words(chosen: ChosenCount) -> str:
    """Describe a choice: how many, to whom, and which of them wait or are left out."""
    text = (
        f"{chosen.deliveries:,} deliveries to {chosen.webhooks:,} webhooks"
        f" of {len(chosen.companies):,} companies"
    )
    return "; ".join([text, *remarks(chosen)])


def remarks(chosen: ChosenCount) -> list[str]:
    waiting = [f"{count:,} of them wait: {REASONS[why]}" for why, count in chosen.waiting.items()]
    if chosen.deleted:
        waiting.append(f"{chosen.deleted:,} more are left out: their webhook is deleted")
    return waiting


def output_of(text: str, chosen: ChosenCount, **extra: int) -> CommandResult:
    data = {
        "deliveries": chosen.deliveries,
        "webhooks": chosen.webhooks,
        "companies": len(chosen.companies),
        "waiting": {str(why): count for why, count in chosen.waiting.items()},
        "deleted": chosen.deleted,
        **extra,
    }
    return CommandResult("\n".join([text, *remarks(chosen)]), data, text)


def redeliver_one(delivery: UUID, *, dry_run: bool) -> CommandResult:
    if not redelivery.has_delivery(delivery):
        raise CommandError(f"There is no delivery {delivery}.")
    if dry_run:
        return CommandResult("1 would be sent again", {"deliveries": 1, "sent": 0})
    count = redelivery.redeliver([delivery])
    text = f"{count} will be sent again"
    return CommandResult(text, {"deliveries": 1, "sent": count}, text)


def stop_run(run_id: int, *, dry_run: bool) -> CommandResult:
    try:
        if dry_run:
            run = replaying.running_replay(run_id)
            return CommandResult(f"would stop {progress(run)}", as_data(run))
        run = replaying.stop_replay(run_id, by=audit.shell_user())
    except replaying.NoReplay as error:
        raise CommandError(str(error)) from error
    return CommandResult(progress(run), as_data(run), progress(run))


def list_runs() -> CommandResult:
    runs = Replay.objects.order_by("-pk")

    def lines() -> Iterator[str]:
        has_runs = False
        for run in runs.iterator():
            has_runs = True
            yield f"{progress(run)}  by {run.by}"
        if not has_runs:
            yield "nothing was ever sent again as a run"

    return CommandResult(lines(), map(as_data, runs.iterator()))


def progress(run: Replay) -> str:
    state = replaying.replay_state(run)
    text = f"run {run.pk}: {state}, {run.passed:,} of {run.total:,}, {run.rate} a second"
    if seconds := replaying.seconds_left(run):
        text += f", about {seconds // 60} min {seconds % 60} s left"
    if replaying.stands_still(run):
        text += f", stands still since {run.moved_at:%Y-%m-%d %H:%M} UTC"
    return text


def as_data(run: Replay) -> dict[str, Any]:
    names = ("since", "until", "webhook_id", "company_id", "type_id", "host", "rate", "total")
    return {
        "run": run.pk,
        "progress": replaying.replay_state(run),
        "begun_at": run.created_at,
        "by": run.by,
        "state": State(run.state).slug,
        **{name: getattr(run, name) for name in (*names, "passed", "sent", "ended_at")},
        "stopped_by": run.stopped_by,
    }
