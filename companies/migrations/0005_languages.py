"""In which language a company is written to, and whether about its tickets."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0004_deployment")]

    operations = [
        migrations.AddField(
            "company",
            "ticket_emails",
            models.BooleanField(
                "emails about tickets",
                default=True,
                db_default=True,
                help_text="Email it when one of its tickets is Incomplete or Declined, or an appeal"
                " is decided.",
            ),
        ),
        migrations.AddField(
            "company",
            "language",
            models.CharField(
                max_length=5,
                choices=[("en", "English"), ("es", "Spanish")],
                blank=True,
                db_default="",
                help_text="What we write to it is in this language; if empty, in the deployment's.",
            ),
        ),
        migrations.AlterField(
            "company",
            "contact_email",
            models.EmailField(
                blank=True,
                help_text="We email this address when a webhook is paused or a ticket needs an"
                " answer.",
                max_length=254,
            ),
        ),
    ]
