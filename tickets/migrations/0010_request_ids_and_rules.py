"""Which request caused an entry of history: null where an earlier version wrote it.

And what programs are told of a type of ticket beside what it is about.
"""

from django.db import migrations, models

import tickets.models.types
from companies.migration_steps import LockLast

COLUMNS = [
    migrations.AddField(
        "tickettype",
        "inputs",
        models.JSONField(
            blank=True,
            default=list,
            db_default=[],
            validators=[tickets.models.types.check_inputs],
            help_text="What companies are asked for with a ticket of this type, as a JSON"
            ' list: [{"name": "content", "el": "input", "required": true,'
            ' "label": "What is in it?"}]. A select also has options, a list of texts.',
        ),
    ),
    migrations.AddField(
        "tickettype",
        "files",
        models.JSONField(
            blank=True,
            default=list,
            db_default=[],
            validators=[tickets.models.types.check_files],
            help_text="What companies are asked to send with it, as a JSON list:"
            ' [{"name": "Photo of the damage", "description": "The box from outside."}].',
        ),
    ),
    migrations.AddField(
        "tickettype",
        "assistants_blocked",
        models.BooleanField(
            default=False,
            db_default=False,
            verbose_name="closed to AI assistants",
            help_text="Assistants that companies use open no tickets of this type.",
        ),
    ),
    migrations.AddField(
        "tickettype",
        "use_case",
        models.CharField(
            max_length=300,
            blank=True,
            db_default="",
            help_text="For AI assistants: when to choose this type. Empty: the description.",
        ),
    ),
    migrations.AddField(
        "tickettype",
        "assistant_notes",
        models.TextField(
            blank=True,
            db_default="",
            verbose_name="notes for AI assistants",
            help_text="One per line: what to mind, and what this type is not for.",
        ),
    ),
    migrations.AddField("historyentry", "request_id", models.CharField(max_length=128, null=True)),
]


class Migration(migrations.Migration):
    dependencies = [("tickets", "0009_files")]

    operations = [
        LockLast(
            "tickets_tickettype",
            "tickets_historyentry",
            operations=COLUMNS,
        ),
    ]
