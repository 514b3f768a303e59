"""Base class of commands about one user of the desk."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from companies.commands import CommandResult, OperatorCommand


class UserCommand(OperatorCommand):
    """Command with a user name as argument, implemented in `act`."""

    def act(self, user: User, *, dry_run: bool) -> CommandResult:
        """Run the command. Raises CommandError for mistakes that the operator can correct."""
        raise NotImplementedError

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username")

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return f"user {options['username']}", None

    def run(
        self, *args: Any, username: str, dry_run: bool = False, **options: Any
    ) -> CommandResult:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        return self.act(user, dry_run=dry_run)
