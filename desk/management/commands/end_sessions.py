from django.contrib.auth.models import User

from companies.commands import CommandResult
from desk.people import session_list
from desk.people.user_commands import UserCommand


class Command(UserCommand):
    help = """Sign a user out of the desk in every browser, as when a computer was lost.

Whoever knows the password can sign in again: change it, or switch the user off, as well."""
    example = "python manage.py end_sessions ada --dry-run\npython manage.py end_sessions ada"
    rehearses = True

    def act(self, user: User, *, dry_run: bool) -> CommandResult:
        count = session_list.end_everywhere(user, dry_run=dry_run)
        summary = f"{'would end' if dry_run else 'ended'} {count} session{'s' * (count != 1)}"
        return CommandResult(
            f"{summary} of {user.username}", {"username": user.username, "sessions": count}, summary
        )
