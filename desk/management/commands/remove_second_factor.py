from django.contrib.auth.models import User
from django.core.management.base import CommandError

from companies.commands import CommandResult
from desk.people import second_factor
from desk.people.user_commands import UserCommand


class Command(UserCommand):
    help = "Remove the second factor of a user who has lost their phone and recovery codes."
    example = "python manage.py remove_second_factor ada"

    def act(self, user: User, *, dry_run: bool) -> CommandResult:
        if not second_factor.remove_devices(user):
            raise CommandError(f"{user.username} has no second factor.")
        removed = f"removed the second factor of {user.username}"
        return CommandResult(removed, {"username": user.username}, removed)
