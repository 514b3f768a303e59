import os
from getpass import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand
from tickets import agents


class Command(OperatorCommand):
    help = (
        "Create an agent who can sign in to the desk. The password comes from AGENT_PASSWORD or a "
        "prompt."
    )
    example = "AGENT_PASSWORD=… python manage.py create_agent ada --email ada@desk.example --lead"
    private = frozenset({"email"})

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username")
        parser.add_argument("--email", default="")
        parser.add_argument(
            "--skill",
            type=int,
            nargs="+",
            action="extend",
            default=[],
            metavar="TYPE_ID",
            help="ids of ticket types that the agent takes; default: all types",
        )
        parser.add_argument("--capacity", type=int, help="active tickets at a time; default 50")
        parser.add_argument(
            "--lead",
            action="store_true",
            help="make the agent a lead",
        )

    def run(self, *args: Any, username: str, **options: Any) -> CommandResult:
        try:
            agent = agents.create_agent(
                username,
                os.environ.get("AGENT_PASSWORD") or ask_password(username),
                email=options["email"],
                skills=options["skill"],
                capacity=options["capacity"],
                lead=options["lead"],
            )
        except agents.BadAgent as error:
            raise CommandError(str(error)) from error
        result = {"agent_id": agent.pk, "username": username}
        return CommandResult(f"created agent {agent}", result, f"created agent {agent.pk}")


def ask_password(username: str) -> str:
    try:
        return getpass(f"Password for {username}: ")
    except EOFError as error:
        raise CommandError("Set AGENT_PASSWORD, or run this in a terminal.") from error
