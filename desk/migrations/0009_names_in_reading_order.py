"""Sort macros and saved views by name as readers expect."""

from django.db import migrations

import companies.reading_order


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0016_reading_order"),
        ("desk", "0008_sign_on"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="macro",
            options={"ordering": [companies.reading_order.ReadingOrder("name")]},
        ),
        migrations.AlterModelOptions(
            name="savedview",
            options={
                "ordering": [companies.reading_order.ReadingOrder("name")],
                "permissions": [("share_view", "Can share saved views")],
            },
        ),
    ]
