"""Events, deliveries and attempts. Migration 0001 defines their tables.

Why: decision page engine-finished-deliveries-leave-the-queue.
"""

import uuid
from datetime import date, datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.jobs.failing_rows import lately_failed_keys
from webhooks.models import Webhook

# Partition of the deliveries that wait. Finished ones are partitioned by the day they ended, so
# that the part to claim from stays small, and old ones go by dropping a table.
OPEN = date(9999, 12, 31)


# Task and kind of the failed rows of deliveries that were set aside.
SET_ASIDE = ("deliver", "delivery")


class State(models.IntegerChoices):
    WAITING = 0, _("waiting")
    DELIVERED = 1, _("delivered")
    GIVEN_UP = 2, _("given up")
    CANCELLED = 3, _("cancelled")

    @property
    def slug(self) -> str:
        """Name for companies, commands and addresses."""
        return self.name.lower()


STATES = {state.slug: state for state in State}


class SubjectKind(models.IntegerChoices):
    SHIPMENT = 1, "shipment"
    TICKET = 2, "ticket"


class Event(models.Model):
    """A fact that companies are notified of, as the exact bytes of the body (decision W10)."""

    # No foreign key on disk: companies and webhooks are never deleted, and checking one for every
    # row would cost more than the row.
    company = models.ForeignKey(
        Company, on_delete=models.PROTECT, db_constraint=False, related_name="+"
    )
    type_id = models.PositiveSmallIntegerField()
    # Subject. A ticket's event names the ticket, and the ticket's shipment if it has one.
    shipment_id = models.BigIntegerField(null=True)
    ticket_id = models.BigIntegerField(null=True)
    tracking_number = models.CharField(max_length=100, blank=True)
    body = models.BinaryField()
    created_at = models.DateTimeField()
    # The fact, and its place in the order (decision N3). The same for every event type that reports
    # the fact; null if an earlier version stored the event.
    fact_id = models.UUIDField(null=True)
    sequence = models.BigIntegerField(null=True)
    request_id = models.CharField(max_length=128, null=True)  # noqa: DJ001 - null: none caused it
    # The span that published it, if requests are traced (core.watch.traces).
    traceparent = models.CharField(max_length=55, null=True)  # noqa: DJ001 - null: it is not traced

    class Meta:
        db_table = "deliveries_event"

    def __str__(self) -> str:
        return f"event {self.pk}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def open(self) -> "DeliveryQuerySet":
        return self.filter(archived_on=OPEN)

    def set_aside(self) -> "DeliveryQuerySet":
        """Return deliveries that were set aside within a day and not sent again since."""
        return self.filter(pk__in=lately_failed_keys(*SET_ASIDE))

    def created_between(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> "DeliveryQuerySet":
        """Return those created at `since` or later and before `until`; None sets no bound."""
        deliveries = self
        if since is not None:
            deliveries = deliveries.filter(created_at__gte=since)
        if until is not None:
            deliveries = deliveries.filter(created_at__lt=until)
        return deliveries


class Delivery(models.Model):
    """One event on its way to one webhook. The id is the delivery's X-Webhook-Id (decision W12)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    event = models.ForeignKey(
        Event, on_delete=models.DO_NOTHING, db_constraint=False, related_name="deliveries"
    )
    webhook = models.ForeignKey(
        Webhook,
        on_delete=models.PROTECT,
        db_constraint=False,
        related_name="deliveries",
        verbose_name=_("webhook"),
    )
    # The shipment or ticket it is about, whose deliveries are sent in order (decision W22).
    subject_id = models.BigIntegerField(null=True)
    subject_kind = models.PositiveSmallIntegerField(null=True, choices=SubjectKind)
    state = models.PositiveSmallIntegerField(_("state"), choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(
        _("attempts"), default=0, help_text=_("Answered or failed.")
    )
    step = models.PositiveSmallIntegerField(default=0, help_text="Failures on the retry ladder.")
    due_at = models.DateTimeField(_("due at"))
    # Its own time, if `due_at` is another: a retry that was pulled forward (deliveries.redelivery),
    # or what is parked behind an earlier one of its subject (deliveries.engine.claiming).
    own_due_at = models.DateTimeField(null=True)
    # Time until which its receiver asked to wait (Retry-After).
    asked_until = models.DateTimeField(null=True)
    first_attempt_at = models.DateTimeField(null=True)
    # A claim expires by itself. `claimed_by` fences off a loop that writes too late.
    claimed_by = models.UUIDField(null=True)
    claimed_until = models.DateTimeField(null=True)
    # Number of loops in a row that were lost while they had it (deliveries.engine.claiming).
    crashes = models.PositiveSmallIntegerField(default=0, db_default=0)
    # Day in UTC, and how often its company asked for it again on that day (decision N26).
    asked_on = models.DateField(null=True)
    asked_times = models.PositiveSmallIntegerField(default=0, db_default=0)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=30, blank=True)
    created_at = models.DateTimeField(_("created at"))
    finished_at = models.DateTimeField(_("finished at"), null=True)
    archived_on = models.DateField(default=OPEN)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        db_table = "deliveries_delivery"
        permissions = [("send_again", "Can send a delivery again")]

    def __str__(self) -> str:
        return str(self.pk)


class AttemptFacts(models.Model):
    """One HTTP request for a delivery. Our headers are not stored: they hold secrets."""

    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    url = models.CharField(max_length=2048)
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=30, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    answer = models.BinaryField(help_text="The first 16 KiB of the response body.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"attempt {self.number}"


class Attempt(AttemptFacts):
    """Read-only view of all attempts: logged ones, and those stored with their delivery."""

    pk = models.CompositePrimaryKey("delivery_id", "number")
    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, db_constraint=False, related_name="log"
    )

    class Meta:
        db_table = "deliveries_any_attempt"
        managed = False


class LoggedAttempt(AttemptFacts):
    """An attempt with its own row: all but a successful first one (deliveries.engine.recording)."""

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )

    class Meta:
        db_table = "deliveries_attempt"
