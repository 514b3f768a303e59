"""What the service knows of itself."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy


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
