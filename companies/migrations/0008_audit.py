"""The audit: entries are written first, ended once, and not deleted while they are young."""

from django.db import migrations, models

# A trigger keeps to that whoever writes, also in a shell of the database.
GUARD = """
CREATE FUNCTION companies_guard_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.outcome IS NULL AND to_jsonb(NEW) - '{outcome,ended_at}'::text[]
        = to_jsonb(OLD) - '{outcome,ended_at}'::text[] THEN
      RETURN NEW;
    END IF;
  ELSIF TG_OP = 'DELETE' AND OLD.at < statement_timestamp() - interval '90 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'entries of the audit are not changed, and deleted after 90 days at the earliest'
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER guarded BEFORE UPDATE OR DELETE ON companies_auditentry
  FOR EACH ROW EXECUTE FUNCTION companies_guard_audit();
CREATE TRIGGER not_truncated BEFORE TRUNCATE ON companies_auditentry
  FOR EACH STATEMENT EXECUTE FUNCTION companies_guard_audit();
"""
DROP = """
DROP TRIGGER not_truncated ON companies_auditentry;
DROP TRIGGER guarded ON companies_auditentry;
DROP FUNCTION companies_guard_audit();
"""


class Migration(migrations.Migration):
    dependencies = [("companies", "0007_search_words")]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.CharField(
                        help_text="A login at the desk, or USER@HOST.", max_length=200
                    ),
                ),
                (
                    "via",
                    models.CharField(
                        choices=[("command", "Command"), ("desk", "Desk"), ("task", "Task")],
                        max_length=10,
                    ),
                ),
                ("act", models.CharField(max_length=50)),
                ("about", models.CharField(blank=True, max_length=300)),
                ("company_id", models.BigIntegerField(null=True)),
                ("details", models.JSONField(default=dict)),
                ("request_id", models.CharField(max_length=128, null=True)),
                ("outcome", models.CharField(max_length=300, null=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit",
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["at"], name="audit_by_time"),
                    models.Index(fields=["company_id", "at"], name="audit_by_company"),
                ],
            },
        ),
        migrations.RunSQL(GUARD, DROP),
    ]
