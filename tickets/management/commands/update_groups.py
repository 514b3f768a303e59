from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import CommandParser

from companies.commands import CommandResult, OperatorCommand
from tickets import roles


class Command(OperatorCommand):
    help = "List permissions that the desk's groups lack in this version; --apply grants them."
    example = "python manage.py update_groups\npython manage.py update_groups --apply"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--apply", action="store_true", help="grant them; removes nothing")

    def acts(self, options: dict[str, Any]) -> bool:
        return bool(options["apply"])

    def run(self, *args: Any, apply: bool, **options: Any) -> CommandResult:
        lines, groups = [], []
        for name in Group.objects.filter(name__in=roles.GROUPS).values_list("name", flat=True):
            lacks = [
                f"{one.content_type.app_label}.{one.codename}"
                for one in roles.missing_permissions(name)
            ]
            granted = roles.update(name) if apply else 0
            lines += [f"{name}: {one}" for one in lacks]
            if apply:
                lines.append(f"{name}: granted {granted}")
            groups.append({"group": name, "lacks": lacks, "granted": granted})
        summary = ", ".join(f"{one['group']}: granted {one['granted']}" for one in groups)
        return CommandResult(iter(lines), groups, summary or "there are no groups yet")
