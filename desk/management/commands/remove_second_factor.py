from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from companies.commands import OperatorCommand, Said
from desk.people import second_factor


class Command(OperatorCommand):
    help = "Remove the second factor of a user who has lost their phone and recovery codes."
    example = "python manage.py remove_second_factor ada"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username")

    def run(self, *args: Any, username: str, **options: Any) -> Said:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user {username}.")
        if not second_factor.remove_devices(user):
            raise CommandError(f"{username} has no second factor.")
        removed = f"removed the second factor of {username}"
        return Said(removed, {"username": username}, removed)
