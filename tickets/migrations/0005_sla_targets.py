"""Target is called SLATarget. Its table keeps its name, and so its rows and whoever reads them.

Permissions are found by the model's name, so they are renamed with it: whoever had one keeps it.
Two others have plainer titles; Django gives a permission its title only when it makes it.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TITLES = {
    "assign_ticket": ("Can give tickets to other agents", "Can assign tickets to other agents"),
    "export_ticket": ("Can take lists of tickets away as files", "Can export lists of tickets"),
}
VERBS = ("add", "change", "delete", "view")


def rename(apps: Apps, old: str, new: str, name: str) -> None:
    permissions = apps.get_model("auth", "Permission").objects
    for verb in VERBS:
        found = permissions.filter(content_type__app_label="tickets", codename=f"{verb}_{old}")
        found.update(codename=f"{verb}_{new}", name=f"Can {verb} {name}")


def title(apps: Apps, which: int) -> None:
    permissions = apps.get_model("auth", "Permission").objects
    for codename, titles in TITLES.items():
        found = permissions.filter(content_type__app_label="tickets", codename=codename)
        found.update(name=titles[which])


def forwards(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    rename(apps, "target", "slatarget", "SLA target")
    title(apps, 1)


def backwards(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    rename(apps, "slatarget", "target", "target")
    title(apps, 0)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("tickets", "0004_open_by_terminal_ids"),
    ]

    operations = [
        migrations.AlterModelTable(name="target", table="tickets_target"),
        migrations.RenameModel(old_name="Target", new_name="SLATarget"),
        migrations.AlterModelOptions(
            name="slatarget",
            options={"ordering": ["plan", "type"], "verbose_name": "SLA target"},
        ),
        migrations.RunPython(forwards, backwards),
    ]
