"""Answers that an agent has sent and may still take back."""

from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from tickets import labels
from tickets.models.files import UnfinishedFile
from tickets.models.tickets import Ticket
from tickets.statuses import NOTIFYING, Status


class PendingAnswerQuerySet(models.QuerySet["PendingAnswer"]):
    def waiting(self) -> "PendingAnswerQuerySet":
        """Return answers that will be sent at their due time."""
        return self.filter(due_at__isnull=False)

    def due(self) -> "PendingAnswerQuerySet":
        """Return answers that are due to be sent."""
        return self.filter(due_at__lte=timezone.now())

    def returned(self) -> "PendingAnswerQuerySet":
        """Return answers taken back or held, whose texts are back in their ticket's reply box."""
        return self.filter(due_at=None)

    @transaction.atomic
    def forget(self, left_at: datetime | None = None) -> int:
        """Delete answers, and leave their files to the job that removes orphans."""
        answers = list(self.select_for_update(no_key=True).order_by("pk"))
        for answer in answers:
            answer.leave_files(left_at)
        return PendingAnswer.objects.filter(pk__in=[one.pk for one in answers]).delete()[0]


class PendingAnswer(models.Model):
    """Reply, move or decision of an appeal that is not sent yet (decision N18).

    It is sent at `due_at`. If it was taken back, or held for the reason in `held`, `due_at` is null
    and it stays until its agent sends or discards it.
    """

    class Kind(models.TextChoices):
        REPLY = "reply"
        MOVE = "move"
        ACCEPT = "accept"
        REFUSE = "refuse"

    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="pending_answers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # Answers of one form, which are taken back together.
    batch = models.UUIDField(default=uuid4, db_index=True)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.REPLY)
    text = models.TextField(blank=True)
    public = models.BooleanField(default=True)
    to = models.PositiveSmallIntegerField(null=True)
    requested = models.JSONField(default=list)
    code = models.CharField(max_length=60, blank=True)
    # Output of `tickets.money.amounts_as_texts`; None leaves the ticket's amounts unchanged.
    amounts = models.JSONField(null=True)
    # The fields of NewFile.
    files = models.JSONField(default=list)
    alone = models.BooleanField(default=False)
    # Token of the page (tickets.changes.page_tokens).
    seen = models.CharField(max_length=60, blank=True)
    due_at = models.DateTimeField(null=True)
    held = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = PendingAnswerQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["ticket"], condition=Q(due_at__isnull=False), name="one_answer_waits"
            ),
        ]

    def __str__(self) -> str:
        """Describe its actions: Reply · Decline."""
        if self.kind == self.Kind.ACCEPT:
            return gettext("Accept the appeal")
        if self.kind == self.Kind.REFUSE:
            return gettext("Refuse the appeal")
        label = gettext("Reply") if self.public else gettext("Note")
        words = [label] if self.kind == self.Kind.REPLY else []
        move = [labels.move_verb(Status(self.to))] if self.to else []
        return " · ".join([*words, *move])

    @property
    def reaches_company(self) -> bool:
        replies = self.kind == self.Kind.REPLY and self.public
        decides = self.kind in (self.Kind.ACCEPT, self.Kind.REFUSE)
        return replies or decides or self.to in NOTIFYING

    def leave_files(self, left_at: datetime | None = None) -> None:
        """Mark the files as unfinished, until a TicketFile takes them or they are removed."""
        at = left_at or timezone.now()
        UnfinishedFile.objects.bulk_create(
            UnfinishedFile(name=one["stored_as"], created_at=at) for one in self.files
        )
