"""What the service knows of itself."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy


class Deployment(models.Model):
    """The one row that says which deployment the database is of (companies.deployments)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    uuid = models.UUIDField(default=uuid4)
    # Key of the queues and of the cache; empty until the first process has started.
    key = models.CharField(max_length=12, blank=True, db_default="")
    # The server, timeline and database in use (companies.restoring); null before it was noted.
    origin = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null: not noted yet
    # Plan of the repair after a restore, until it has come to its end.
    restore = models.JSONField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_deployment")]

    def __str__(self) -> str:
        return str(self.uuid)


class HostReport(models.Model):
    """Findings and traits of a host with a worker (companies.hosts)."""

    name = models.CharField(max_length=255, primary_key=True)
    reported_at = models.DateTimeField()
    # By check: its state as a number, and until when that is news, in seconds since 1970.
    findings = models.JSONField(default=dict)
    # Settings and surroundings that all hosts of a deployment must have in common.
    traits = models.JSONField(default=dict)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name


class AuditEntry(models.Model):
    """An act of somebody who runs the service (companies.audit).

    The database refuses to change an entry, but for its end, and to delete a young one.
    """

    class Via(models.TextChoices):
        COMMAND = "command"
        DESK = "desk"
        TASK = "task"
        API = "api"

    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(
        max_length=200, help_text="A login at the desk, USER@HOST, or company for an API token."
    )
    via = models.CharField(max_length=10, choices=Via)
    act = models.CharField(max_length=50)
    # What it was done to, in a few words.
    about = models.CharField(max_length=300, blank=True)
    company_id = models.BigIntegerField(null=True)
    details = models.JSONField(default=dict)
    request_id = models.CharField(max_length=128, null=True)  # noqa: DJ001 - null: none caused it
    # Null until it has ended: what was killed has none.
    outcome = models.CharField(max_length=300, null=True)  # noqa: DJ001 - the same
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ("view",)
        verbose_name = gettext_lazy("audit entry")
        verbose_name_plural = gettext_lazy("audit")
        indexes = [
            models.Index(fields=["at"], name="audit_by_time"),
            models.Index(fields=["company_id", "at"], name="audit_by_company"),
            models.Index(fields=["actor", "at"], name="audit_by_actor"),
            models.Index(fields=["act", "at"], name="audit_by_act"),
        ]

    def __str__(self) -> str:
        return f"{self.act} by {self.actor}"


class Erasure(models.Model):
    """A company that is being erased, and how far that has come (companies.erasing).

    Rows stay: they say what was erased and when, and nothing of what it was.
    """

    company_id = models.BigIntegerField(db_index=True)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    # The part it is at, and behind which row of it; empty before the first.
    part = models.CharField(max_length=50, blank=True)
    after = models.JSONField(null=True)
    # How many rows of each kind.
    counts = models.JSONField(default=dict)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["company_id"], condition=Q(ended_at=None), name="one_erasure_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"erasure of company {self.company_id}"


class Sum(models.Model):
    """What all processes have counted of one series (companies.measures.sums)."""

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


class FailedRow(models.Model):
    """A row that a job fails on, and goes on without (companies.failing_rows)."""

    job = models.CharField(max_length=50)
    # What it is, such as a ticket, and which.
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=100)
    error = models.CharField(max_length=300)
    first_at = models.DateTimeField("first failed", auto_now_add=True)
    last_at = models.DateTimeField("last failed", auto_now_add=True)
    times = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "kind", "key"], name="one_entry_per_failed_row")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
