"""A database of an earlier version: loaded, migrated, and used."""

from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client, override_settings
from django.urls import reverse

from companies.models import Company
from companies.services import issue_token
from core.jobs.job import all_jobs
from deliveries.models import Delivery, State
from tests.sending import deliver, make_due
from tests.upgrades import life
from tickets.models import Comment, Ticket
from tools.faults.receiver import Receiver
from webhooks import target_policy
from webhooks.models import Webhook

STALE = (
    "its migrations have changed. Nobody may do that once it is released; until then write its rows"
    " anew: ./dev test tests/upgrades/dump.py"
)


def use(file: Path) -> dict[str, Any]:
    """Return problems by what was tried; empty if all is well."""
    dump = life.read(file)
    with override_settings(ALLOWED_HOSTS=["testserver"]), TemporaryDirectory() as folder:
        return {
            "rows": load(dump),
            "pages": open_pages(),
            "api": ask_api(),
            "sending": send(),
            "jobs": run_jobs(),
            "leaving": leave(Path(folder)),
        }


def load(dump: dict[str, Any]) -> list[str]:
    """Migrate to the dump's version, load its rows, and migrate on; returns lost rows."""
    # The last one of each app: a step to an earlier one would migrate back.
    for app, name in dict(dump["migrations"]).items():
        call_command("migrate", app, name, verbosity=0)
    tables = dump["tables"]
    # Disable triggers: the rows that they write are in the dump.
    with transaction.atomic(), connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
        cursor.execute("TRUNCATE " + ", ".join(f'"{table}"' for table in tables))
        for table, (columns, rows) in tables.items():
            column_list = ", ".join(f'"{column}"' for column in columns)
            now = [
                each.name for each in connection.introspection.get_table_description(cursor, table)
            ]
            assert now == columns, f"{table}: {STALE}"
            with cursor.copy(f'COPY "{table}" ({column_list}) FROM STDIN') as copy:
                copy.write(rows)
        for sequence, last in dump["sequences"].items():
            cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, last])
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'ALTER TABLE "{table}" ENABLE TRIGGER USER')
    call_command("migrate", verbosity=0)
    return [f"{table}: {rows}" for table, rows in counts().items() if not rows]


def counts() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(life.TABLES)
        tables = [table for (table,) in cursor.fetchall() if table not in life.ALIVE]
        counts_by_table = {}
        for table in tables:
            cursor.execute(f'SELECT count(*) FROM "{table}"')  # noqa: S608 - our own
            counts_by_table[table] = cursor.fetchone()[0]
    return counts_by_table


def open_pages() -> list[str]:
    """Open every list of the desk, and the page of a row of each; returns failures."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    pages = [reverse("admin:index")]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages.append(reverse(f"{name}_changelist"))
        rows = model._default_manager.all()[:2]
        pages += [reverse(f"{name}_change", args=[row.pk]) for row in rows]
    answers = {page: client.get(page).status_code for page in pages}
    return [f"{page}: {status}" for page, status in answers.items() if status != 200]


def ask_api() -> list[str]:
    """Request everything that a company reads, and comment on its ticket; returns failures."""
    company = Company.objects.get(name="alpha Ltd")
    client = Client(headers={"Authorization": f"Bearer {issue_token(company.pk)}"})
    ticket = Ticket.objects.filter(company=company).earliest("pk")
    webhook = company.webhooks.earliest("pk")
    gets = ["/webhooks", f"/webhooks/{webhook.pk}/deliveries"]
    gets += ["/company/tickets", f"/company/tickets/comments/{ticket.pk}"]
    statuses = {path: client.get(path).status_code for path in gets}
    comment = client.post(
        f"/company/tickets/{ticket.pk}/comments", {"comment": "still there"}, "application/json"
    )
    statuses["comments"] = (
        200 if Comment.objects.filter(text="still there").exists() else comment.status_code
    )
    return [f"{path}: {status}" for path, status in statuses.items() if status != 200]


def send() -> list[str]:
    """Deliver the backlog, signed with the stored secrets; returns failures."""
    call_command("resume", stdout=StringIO())
    waits = list(Delivery.objects.open().values_list("pk", flat=True))
    with (
        Receiver() as receiver,
        override_settings(WEBHOOK_ALLOW_HTTP=True, WEBHOOK_ALLOWED_NETWORKS=life.LOOPBACK),
    ):
        for webhook in Webhook.objects.all():
            Webhook.objects.filter(pk=webhook.pk).update(url=f"{receiver.url}/{webhook.pk}")
        make_due()
        deliver(target_policy.current_policy())
    return [
        f"delivery {each.pk}: {each.get_state_display()} {each.last_error}"
        for each in Delivery.objects.filter(pk__in=waits).exclude(state=State.DELIVERED)
    ]


def run_jobs() -> list[str]:
    return [name for name, job in all_jobs().items() if job.run() is None]


def leave(folder: Path) -> list[str]:
    """Export a company's data and erase it; returns failures."""
    company = Company.objects.get(name="beta Ltd")
    call_command("export_company", company.pk, to=folder / "beta.zip", stdout=StringIO())
    call_command("erase_company", company.pk, confirm=company.name, stdout=StringIO())
    return [] if (folder / "beta.zip").stat().st_size else ["the export is empty"]
