"""Sort calendars, filing rules and required documents by name as readers expect."""

from django.db import migrations

import companies.reading_order


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0016_reading_order"),
        ("tickets", "0024_bounded_words"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="calendar",
            options={"ordering": [companies.reading_order.ReadingOrder("name")]},
        ),
        migrations.AlterModelOptions(
            name="filingrule",
            options={"ordering": [companies.reading_order.ReadingOrder("carrier_name"), "type"]},
        ),
        migrations.AlterModelOptions(
            name="requireddocument",
            options={
                "ordering": ["type", companies.reading_order.ReadingOrder("carrier_name"), "id"],
                "verbose_name": "required document",
                "verbose_name_plural": "required documents",
            },
        ),
    ]
