from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from companies.commands import OperatorCommand, Said
from desk.people.sign_on import identities


class Command(OperatorCommand):
    help = """Forget which single sign-on account a user comes with, as when it was made anew.

The next account with the user's verified email address is bound to the user. Sessions go on:
end_sessions ends them."""
    example = "python manage.py forget_sign_on ada --dry-run\npython manage.py forget_sign_on ada"
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
        if not identities.forget_sign_on(user, dry_run=dry_run):
            raise CommandError(f"{username} is bound to no single sign-on account.")
        said = f"{'would forget' if dry_run else 'forgot'} the single sign-on account"
        return Said(f"{said} of {username}", {"username": username}, said)
