"""A calendar and a target to begin with; leads change them, and add others."""

from datetime import time

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_working_week(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Monday to Friday from 9 to 18: an answer within eight hours, a decision within forty."""
    Calendar = apps.get_model("tickets", "Calendar")
    calendar, made = Calendar.objects.get_or_create(name="Working week")
    if not made:
        return
    for weekday in range(5):
        calendar.hours.create(weekday=weekday, starts=time(9), ends=time(18))
    apps.get_model("tickets", "Target").objects.get_or_create(
        plan="",
        type=None,
        defaults={
            "calendar": calendar,
            "first_response_minutes": 8 * 60,
            "resolution_minutes": 40 * 60,
        },
    )


class Migration(migrations.Migration):
    dependencies = [("tickets", "0006_clock_digest")]

    operations = [migrations.RunPython(add_working_week, migrations.RunPython.noop)]
