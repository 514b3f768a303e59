import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from companies import services


class Command(BaseCommand):
    help = "Create a company. Prints it as one line of JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--contact-email", default="", help="we email this address when a webhook is paused"
        )

    def handle(self, *args: Any, name: str, contact_email: str, **options: Any) -> None:
        try:
            company = services.create_company(name, contact_email=contact_email)
        except ValueError as error:
            raise CommandError(str(error)) from error
        made = {"company_id": company.pk, "name": company.name}
        self.stdout.write(json.dumps(made, ensure_ascii=False))
