"""Django's log of the admin in the order of time: all of it, of a user, of a kind, of an object."""

from django.db import migrations

INDEXES = {
    "desk_log_by_time": "action_time",
    "desk_log_by_user": "user_id, action_time",
    "desk_log_by_act": "action_flag, action_time",
    "desk_log_by_object": "content_type_id, object_id, action_time",
}


class Migration(migrations.Migration):
    # Indexes of a live table are made outside of a transaction.
    atomic = False

    dependencies = [("desk", "0005_first_run"), ("admin", "0003_logentry_add_action_flag_choices")]

    operations = [
        migrations.RunSQL(
            [
                # What a run that was interrupted has left is not valid.
                f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
                f"CREATE INDEX CONCURRENTLY {name} ON django_admin_log ({columns})",
            ],
            [f"DROP INDEX CONCURRENTLY IF EXISTS {name}"],
        )
        for name, columns in INDEXES.items()
    ]
