import time
from typing import Any

from django.core.management.base import CommandParser

from companies import audit
from companies.commands import CommandResult, OperatorCommand
from deliveries.engine import holding

# Within this time each loop has noticed the drain.
HEARD_WITHIN_SECONDS = 2.5
LOOK_EVERY_SECONDS = 0.2


class Command(OperatorCommand):
    help = """Have all engine loops of this database claim nothing more and end what is in flight,
until `resume`. New events are stored and wait. The state is a row, so restarts change nothing."""
    example = 'python manage.py drain --wait 60 --reason "new network"'
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--reason", default="", help="for whoever wonders later")
        parser.add_argument(
            "--wait",
            type=float,
            default=0,
            metavar="SECONDS",
            help="until nothing is in flight, so long at most; exits with 1 if something still is",
        )

    def run(
        self, *args: Any, reason: str, wait: float, dry_run: bool, **options: Any
    ) -> CommandResult:
        if dry_run:
            busy = holding.requests_in_flight()
            return CommandResult(
                f"would drain; {busy} in flight", {"draining": False, "in_flight": busy}
            )
        drain = holding.drain_loops(by=audit.shell_user(), reason=reason)
        busy = self.wait_for_silence(wait) if wait else holding.requests_in_flight()
        text = f"draining since {drain.since:%Y-%m-%d %H:%M:%S} UTC; {busy} in flight"
        data = {"draining": True, "since": drain.since, "by": drain.by, "in_flight": busy}
        return CommandResult(text, data, text, failed=bool(wait and busy))

    def wait_for_silence(self, seconds: float) -> int:
        """Wait until nothing is in flight; return the requests that are when the time is over."""
        start = time.monotonic()
        while True:
            busy = holding.requests_in_flight()
            waited = time.monotonic() - start
            if waited >= max(seconds, HEARD_WITHIN_SECONDS) or (
                not busy and waited >= HEARD_WITHIN_SECONDS
            ):
                return busy
            self.show(f"{busy} in flight")
            time.sleep(LOOK_EVERY_SECONDS)
