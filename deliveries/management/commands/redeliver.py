from argparse import ArgumentTypeError
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from companies.times import read_time
from deliveries import redelivery
from deliveries.redelivery import STATES


def iso_time(text: str) -> datetime:
    """Read an argument as an ISO 8601 time; without an offset it is in UTC."""
    try:
        return read_time(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


class Command(BaseCommand):
    help = (
        "Send deliveries again: one of them, or those of a webhook or a time window. By default "
        "only those that were given up."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--delivery", type=UUID, metavar="ID", help="the delivery's X-Webhook-Id"
        )
        parser.add_argument("--webhook", type=int, metavar="ID", help="deliveries of this webhook")
        parser.add_argument(
            "--since", type=iso_time, metavar="T", help="created at this time (ISO 8601) or later"
        )
        parser.add_argument(
            "--until", type=iso_time, metavar="T", help="created before this time (ISO 8601)"
        )
        parser.add_argument(
            "--state", choices=STATES, default="given_up", help="default: %(default)s"
        )
        parser.add_argument("--dry-run", action="store_true", help="only count the deliveries")

    def handle(self, *args: Any, delivery: UUID | None, dry_run: bool, **options: Any) -> None:
        window = {name: options[name] for name in ("since", "until")}
        if delivery is not None:
            if not redelivery.has_delivery(delivery):
                raise CommandError(f"There is no delivery {delivery}.")
            ids = [delivery]
        elif options["webhook"] is None and not any(window.values()):
            raise CommandError("Give --delivery, --webhook, --since or --until.")
        else:
            ids = redelivery.find_deliveries(
                webhook_id=options["webhook"], state=STATES[options["state"]], **window
            )
        if dry_run:
            self.stdout.write(f"{len(ids)} would be sent again")
        else:
            self.stdout.write(f"{redelivery.redeliver(ids)} will be sent again")
