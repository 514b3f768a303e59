import json
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from companies import services
from companies.commands import CommandResult, OperatorCommand


class Command(OperatorCommand):
    help = "Create a company. Prints it as one line of JSON."
    example = 'python manage.py create_company "Acme" --contact-email dev@acme.example'
    private = frozenset({"name", "contact_email"})

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument(
            "--contact-email",
            default="",
            help="we email this address when a webhook is paused or a ticket needs an answer",
        )
        parser.add_argument(
            "--language",
            default="",
            choices=[code for code, _ in settings.LANGUAGES],
            help="of what we write to the company; default: the deployment's",
        )
        parser.add_argument(
            "--time-zone",
            default="",
            metavar="ZONE",
            help="of the times in what we write to it; default: the deployment's",
        )
        parser.add_argument(
            "--no-ticket-emails",
            dest="ticket_emails",
            action="store_false",
            help="send it no emails about tickets",
        )

    def run(
        self,
        *args: Any,
        name: str,
        contact_email: str,
        language: str,
        time_zone: str,
        ticket_emails: bool,
        **options: Any,
    ) -> CommandResult:
        try:
            company = services.create_company(
                name,
                contact_email=contact_email,
                language=language,
                time_zone=time_zone,
                ticket_emails=ticket_emails,
            )
        except (ValueError, ValidationError) as error:
            raise CommandError(getattr(error, "message", str(error))) from error
        result = {"company_id": company.pk, "name": company.name}
        return CommandResult(
            json.dumps(result, ensure_ascii=False), result, f"created company {company.pk}"
        )
