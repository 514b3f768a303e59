from django.contrib.auth.models import User
from django.core.management.base import CommandError

from companies.commands import CommandResult
from desk.people import leavers
from desk.people.user_commands import UserCommand


class Command(UserCommand):
    help = """Forget what is kept of somebody who has left: name, email address, password, second
factor, sign-ins, sessions, absences and what they had for themselves. This cannot be undone.

The user name stays, and with it who did what. The user has to be switched off."""
    example = "python manage.py forget_user ada --dry-run\npython manage.py forget_user ada"
    rehearses = True

    def act(self, user: User, *, dry_run: bool) -> CommandResult:
        try:
            counts = leavers.forget_user(user, dry_run=dry_run)
        except leavers.UserStillActive as error:
            raise CommandError(str(error)) from error
        rows = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
        summary = f"{'would forget' if dry_run else 'forgot'} {user.username}"
        return CommandResult(f"{summary}: {rows or 'no rows beside the user'}", counts, summary)
