import os
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from tickets import roles
from tickets.management.commands.create_agent import ask_password


class Command(OperatorCommand):
    help = "Create an auditor or an operator. The password comes from AGENT_PASSWORD or a prompt."
    example = "AGENT_PASSWORD=… python manage.py create_user olga --role operator"
    private = frozenset({"email"})

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username")
        parser.add_argument("--role", required=True, choices=roles.NON_AGENT_ROLES)
        parser.add_argument("--email", default="")

    def run(
        self, *args: Any, username: str, role: str, email: str, **options: Any
    ) -> CommandResult:
        password = os.environ.get("AGENT_PASSWORD") or ask_password(username)
        try:
            user = roles.create_user(username, password, role, email=email)
        except roles.BadUser as error:
            raise CommandError(str(error)) from error
        result = {"user_id": user.pk, "username": username, "role": role}
        return CommandResult(f"created {role} {user}", result, f"created user {user.pk}")
