from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from companies.commands import OperatorCommand, Said
from desk.people import session_list


class Command(OperatorCommand):
    help = """Sign a user out of the desk in every browser, as when a computer was lost.

Whoever knows the password can sign in again: change it, or switch the user off, as well."""
    example = "python manage.py end_sessions ada --dry-run\npython manage.py end_sessions ada"
    rehearses = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username")

    def about(self, options: dict[str, Any]) -> tuple[str, int | None]:
        return f"user {options['username']}", None

    def run(self, *args: Any, username: str, dry_run: bool, **options: Any) -> Said:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        count = session_list.end_everywhere(user, dry_run=dry_run)
        said = f"{'would end' if dry_run else 'ended'} {count} session{'s' * (count != 1)}"
        return Said(f"{said} of {username}", {"username": username, "sessions": count}, said)
