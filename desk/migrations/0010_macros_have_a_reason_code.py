"""The reason code that a macro brings to the decision it makes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("desk", "0009_names_in_reading_order"),
        ("tickets", "0025_names_in_reading_order"),
    ]

    operations = [
        migrations.AddField(
            "macro",
            "reason_code",
            models.ForeignKey(
                blank=True,
                help_text="Of a decision. Without one the agent chooses.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="tickets.reasoncode",
                verbose_name="reason code",
            ),
        ),
    ]
