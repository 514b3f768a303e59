"""Tables about the service itself."""

import uuid

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import core.data.encryption

# A few hundred rows that change every few seconds, each in its own page: no index grows, and there
# is always room for a row's next version.
ROOM = "ALTER TABLE core_sum SET (fillfactor = 20, autovacuum_vacuum_scale_factor = 2)"
# A crash of PostgreSQL empties it, and each job runs once more.
UNLOGGED = "ALTER TABLE core_pulse SET UNLOGGED"


def make_id(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("core", "Deployment").objects.get_or_create(pk=1)


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="HostReport",
            fields=[
                ("name", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("reported_at", models.DateTimeField()),
                ("findings", models.JSONField(default=dict)),
                ("traits", models.JSONField(default=dict)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Mail",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("address", models.EmailField(max_length=254)),
                ("subject", models.CharField(max_length=200)),
                ("text", models.TextField()),
                ("secret_text", core.data.encryption.EncryptedTextField(editable=False, null=True)),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                ("tries", models.PositiveSmallIntegerField(default=0, help_text="Begun.")),
            ],
        ),
        migrations.CreateModel(
            name="Pulse",
            fields=[
                ("name", models.CharField(max_length=50, primary_key=True, serialize=False)),
                ("begun_at", models.DateTimeField()),
                ("done_at", models.DateTimeField(help_text="The last success.", null=True)),
                ("run", models.UUIDField(null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                (
                    "tries",
                    models.PositiveSmallIntegerField(
                        db_default=0, help_text="Begun since that success."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("uuid", models.UUIDField(default=uuid.uuid4)),
                ("key", models.CharField(blank=True, db_default="", max_length=12)),
                ("origin", models.CharField(max_length=100, null=True)),
                ("restore", models.JSONField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="one_deployment")
                ],
            },
        ),
        migrations.CreateModel(
            name="FailedRow",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("job", models.CharField(max_length=50, verbose_name="job")),
                ("kind", models.CharField(max_length=20, verbose_name="kind")),
                ("key", models.CharField(max_length=100, verbose_name="key")),
                ("error", models.CharField(max_length=300, verbose_name="error")),
                ("first_at", models.DateTimeField(auto_now_add=True, verbose_name="first failed")),
                ("last_at", models.DateTimeField(auto_now_add=True, verbose_name="last failed")),
                ("times", models.PositiveIntegerField(default=1, verbose_name="times")),
            ],
            options={
                "verbose_name": "failed row",
                "verbose_name_plural": "failed rows",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("job", "kind", "key"), name="one_entry_per_failed_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Sum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("labels", models.CharField(max_length=300)),
                ("value", models.FloatField()),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("name", "labels"), name="one_sum_per_series")
                ],
            },
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
        migrations.RunSQL(UNLOGGED, migrations.RunSQL.noop),
        migrations.RunPython(make_id, migrations.RunPython.noop),
    ]
