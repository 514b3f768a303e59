"""Rows about the service's own acts."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy


class AuditEntry(models.Model):
    """An entry of the audit log: an act on the service (companies.audit).

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
    # Object of the act, in a few words.
    about = models.CharField(max_length=300, blank=True)
    company_id = models.BigIntegerField(null=True)
    details = models.JSONField(default=dict)
    request_id = models.CharField(max_length=128, null=True)  # noqa: DJ001 - null: no request
    # Null until the act has ended, and for ever if it was killed.
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
    """Erasure of a company, and its progress (companies.erasing).

    Rows stay: they say which company was erased and when, and nothing about it.
    """

    company_id = models.BigIntegerField(db_index=True)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    # Current part, and the position reached in it; empty before the first.
    part = models.CharField(max_length=50, blank=True)
    after = models.JSONField(null=True)
    # Number of rows by kind.
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
