from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from desk.people import second_factor


class Command(BaseCommand):
    help = "Remove the second factor of a user who has lost their phone and recovery codes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        if not second_factor.remove_devices(user):
            raise CommandError(f"{username} has no second factor.")
        self.stdout.write(f"removed the second factor of {username}")
