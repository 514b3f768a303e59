"""Which deployment this is: an id that is made with the database."""

from uuid import uuid4

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q


def make_id(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("companies", "Deployment").objects.get_or_create(pk=1)


class Migration(migrations.Migration):
    dependencies = [("companies", "0003_failed_rows")]

    operations = [
        migrations.CreateModel(
            name="Deployment",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("uuid", models.UUIDField(default=uuid4)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=Q(id=1), name="one_deployment")]
            },
        ),
        migrations.RunPython(make_id, migrations.RunPython.noop),
    ]
