"""Rows about the service itself: its deployment and hosts, its jobs, its sums and its mail."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.data.encryption import EncryptedTextField


class Deployment(models.Model):
    """Single row that says which deployment the database belongs to (core.jobs.deployments)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    uuid = models.UUIDField(default=uuid.uuid4)
    # Key of the queues and of the cache; empty until the first process has started.
    key = models.CharField(max_length=12, blank=True, db_default="")
    # The server, timeline and database in use (companies.restoring); null before it was noted.
    origin = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null: not noted yet
    # Plan of the repair after a restore, until that is finished.
    restore = models.JSONField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_deployment")]

    def __str__(self) -> str:
        return str(self.uuid)


class HostReport(models.Model):
    """Findings and traits of a host with a worker (core.watch.hosts)."""

    name = models.CharField(max_length=255, primary_key=True)
    reported_at = models.DateTimeField()
    # By check: its state as a number, when and how often it runs, and whether hosts may differ.
    findings = models.JSONField(default=dict)
    # Settings and surroundings that all hosts of a deployment must have in common.
    traits = models.JSONField(default=dict)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class Pulse(models.Model):
    """State of a job (core.jobs.job). Unlogged: after a database crash each job runs once more."""

    name = models.CharField(max_length=50, primary_key=True)
    begun_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, help_text="The last success.")
    # The run at work; null while nothing runs.
    run = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(db_default=0, help_text="Begun since that success.")

    def __str__(self) -> str:
        return self.name


class FailedRow(models.Model):
    """A row that a job fails on, and continues without (core.jobs.failing_rows)."""

    job = models.CharField(_("job"), max_length=50)
    # The sort of row, such as a ticket, and its number or name.
    kind = models.CharField(_("kind"), max_length=20)
    key = models.CharField(_("key"), max_length=100)
    error = models.CharField(_("error"), max_length=300)
    first_at = models.DateTimeField(_("first failed"), auto_now_add=True)
    last_at = models.DateTimeField(_("last failed"), auto_now_add=True)
    times = models.PositiveIntegerField(_("times"), default=1)

    class Meta:
        verbose_name = _("failed row")
        verbose_name_plural = _("failed rows")
        constraints = [
            models.UniqueConstraint(fields=["job", "kind", "key"], name="one_entry_per_failed_row")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Sum(models.Model):
    """Total of one series over all processes (core.measures.sums)."""

    name = models.CharField(max_length=100)
    # The values of its labels, as JSON.
    labels = models.CharField(max_length=300)
    value = models.FloatField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["name", "labels"], name="one_sum_per_series")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.labels}"


class Mail(models.Model):
    """An email that is still to be sent (core.mailing.outbox)."""

    # Part of the Message-ID, so that a repeat can be recognised.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    address = models.EmailField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    # Encrypted text, instead of `text`, if that holds a link that grants access.
    secret_text = EncryptedTextField(null=True, editable=False)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Begun.")

    def __str__(self) -> str:
        return self.subject
