from django.contrib.auth.models import User
from django.core.management.base import CommandError

from companies.commands import CommandResult
from desk.people.sign_on import identities
from desk.people.user_commands import UserCommand


class Command(UserCommand):
    help = """Forget which single sign-on account a user comes with, as when it was made anew.

The next account with the user's verified email address is bound to the user. Sessions go on:
end_sessions ends them."""
    example = "python manage.py forget_sign_on ada --dry-run\npython manage.py forget_sign_on ada"
    rehearses = True

    def act(self, user: User, *, dry_run: bool) -> CommandResult:
        if not identities.forget_sign_on(user, dry_run=dry_run):
            raise CommandError(f"{user.username} is bound to no single sign-on account.")
        summary = f"{'would forget' if dry_run else 'forgot'} the single sign-on account"
        return CommandResult(f"{summary} of {user.username}", {"username": user.username}, summary)
