from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandParser

from tickets import roles


class Command(BaseCommand):
    help = "List permissions that the desk's groups lack in this version; --apply grants them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="grant them; removes nothing")

    def handle(self, *args: Any, apply: bool, **options: Any) -> None:
        for name in roles.GROUPS:
            if not Group.objects.filter(name=name).exists():
                continue
            for one in roles.missing_permissions(name):
                self.stdout.write(f"{name}: {one.content_type.app_label}.{one.codename}")
            if apply:
                self.stdout.write(f"{name}: granted {roles.update(name)}")
