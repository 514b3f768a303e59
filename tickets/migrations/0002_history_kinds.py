"""History gets a kind, and `changes` becomes `data` (decision: history is a code and its data).

Nothing waits for it: the new column has a constant default, and the column and the index of the
data stay as they are. The default lives in the database, so that processes of the version before
can still write history while this one is being rolled out.
"""

from django.db import migrations, models

KINDS = [
    ("opened", "opened"),
    ("moved", "moved"),
    ("move_refused", "move refused"),
    ("data_changed", "data changed"),
    ("assigned", "assigned"),
    ("unassigned", "unassigned"),
    ("taken", "taken"),
    ("reassigned", "reassigned"),
    ("documents_requested", "documents requested"),
    ("evidence_taken", "evidence taken"),
    ("other", "other"),
]


class Migration(migrations.Migration):
    dependencies = [("tickets", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="historyentry",
            name="kind",
            field=models.CharField(choices=KINDS, db_default="other", max_length=30),
        ),
        # The column keeps its name, and so the index its condition: only Django's names change.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveIndex(model_name="historyentry", name="history_assignments"),
                migrations.AlterField(
                    model_name="historyentry",
                    name="changes",
                    field=models.JSONField(db_column="changes", default=dict),
                ),
                migrations.RenameField(
                    model_name="historyentry", old_name="changes", new_name="data"
                ),
                migrations.AddIndex(
                    model_name="historyentry",
                    index=models.Index(
                        condition=models.Q(("data__has_key", "agent")),
                        fields=["created_at"],
                        name="history_assignments",
                    ),
                ),
            ]
        ),
    ]
