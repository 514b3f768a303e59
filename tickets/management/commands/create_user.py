import os
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tickets import roles
from tickets.management.commands.create_agent import ask_password


class Command(BaseCommand):
    help = "Create an auditor or an operator. The password comes from AGENT_PASSWORD or a prompt."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", required=True, choices=roles.BESIDE_THE_DESK)
        parser.add_argument("--email", default="")

    def handle(self, *args: Any, username: str, role: str, email: str, **options: Any) -> None:
        password = os.environ.get("AGENT_PASSWORD") or ask_password(username)
        try:
            user = roles.create_user(username, password, role, email=email)
        except roles.BadUser as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"created {role} {user}")
