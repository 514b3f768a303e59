"""Rows are the queue. Migration 0001 says how the tables lie on disk.

Why: decision page engine-finished-deliveries-leave-the-queue.
"""

import uuid
from datetime import date, datetime

from django.db import models

from companies.models import Company
from webhooks.models import Webhook

# The partition that holds what still waits. Finished deliveries lie by the day they ended, so
# that what is claimed from stays small and what is old goes by dropping a table.
OPEN = date(9999, 12, 31)


class State(models.IntegerChoices):
    WAITING = 0, "waiting"
    DELIVERED = 1, "delivered"
    GIVEN_UP = 2, "given_up"
    CANCELLED = 3, "cancelled"


class Event(models.Model):
    """Something that happened, in the very bytes we send (decision W10)."""

    # No foreign key on disk: companies and webhooks are never deleted, and checking one for every
    # row would cost more than the row.
    company = models.ForeignKey(
        Company, on_delete=models.PROTECT, db_constraint=False, related_name="+"
    )
    type_id = models.PositiveSmallIntegerField()
    # The order key: what happened to one shipment is told in order (decision W22).
    shipment_id = models.BigIntegerField(null=True)
    tracking_number = models.CharField(max_length=100, blank=True)
    body = models.BinaryField()
    created_at = models.DateTimeField()
    # What happened, and when in the order of its shipment (decision N3). Both are the same for
    # every event type that tells it; null where an earlier version stored the event.
    fact_id = models.UUIDField(null=True)
    sequence = models.BigIntegerField(null=True)

    class Meta:
        db_table = "deliveries_event"

    def __str__(self) -> str:
        return f"event {self.pk}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def open(self) -> "DeliveryQuerySet":
        return self.filter(archived_on=OPEN)

    def created_between(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> "DeliveryQuerySet":
        """Created at `since` or later and before `until`; None sets no bound."""
        found = self
        if since is not None:
            found = found.filter(created_at__gte=since)
        if until is not None:
            found = found.filter(created_at__lt=until)
        return found


class Delivery(models.Model):
    """One event on its way to one webhook. The id is the delivery's X-Webhook-Id (decision W12)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    event = models.ForeignKey(
        Event, on_delete=models.DO_NOTHING, db_constraint=False, related_name="deliveries"
    )
    webhook = models.ForeignKey(
        Webhook, on_delete=models.PROTECT, db_constraint=False, related_name="deliveries"
    )
    shipment_id = models.BigIntegerField(null=True)
    state = models.PositiveSmallIntegerField(choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Answered or failed.")
    step = models.PositiveSmallIntegerField(default=0, help_text="Failures on the retry ladder.")
    due_at = models.DateTimeField()
    # When its own next try is, where it was pulled forward (deliveries.catching_up).
    own_due_at = models.DateTimeField(null=True)
    # Until when its receiver asked to wait (Retry-After).
    asked_until = models.DateTimeField(null=True)
    first_attempt_at = models.DateTimeField(null=True)
    # A claim is a loan: it ends by itself. The mark is the fence against a late writer.
    claimed_by = models.UUIDField(null=True)
    claimed_until = models.DateTimeField(null=True)
    # How many loops in a row were lost while they had it (deliveries.engine.claiming).
    crashes = models.PositiveSmallIntegerField(default=0, db_default=0)
    # How often its company has asked for it again, on which day of UTC (decision N26).
    asked_on = models.DateField(null=True)
    asked_times = models.PositiveSmallIntegerField(default=0, db_default=0)
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.CharField(max_length=30, blank=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    archived_on = models.DateField(default=OPEN)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        db_table = "deliveries_delivery"
        permissions = [("send_again", "Can send a delivery again")]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return str(self.pk)


class Attempt(models.Model):
    """One HTTP request for a delivery. Never our headers: they hold secrets."""

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, db_constraint=False, related_name="log"
    )
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    url = models.CharField(max_length=2048)
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=30, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    answer = models.BinaryField(help_text="The first 16 KiB of the response body.")

    class Meta:
        db_table = "deliveries_attempt"

    def __str__(self) -> str:
        return f"attempt {self.number}"


class Health(models.Model):
    """How a webhook's receiver has been doing. Written when that changes, not per delivery."""

    webhook = models.OneToOneField(
        Webhook, on_delete=models.CASCADE, primary_key=True, related_name="health"
    )
    failures = models.PositiveIntegerField(default=0, help_text="Consecutive failures.")
    rests = models.PositiveIntegerField(default=0, help_text="Deliveries since the last success.")
    failing_since = models.DateTimeField(null=True)
    resting_until = models.DateTimeField(null=True)
    # The part of a rest that the receiver asked for (Retry-After).
    asked_until = models.DateTimeField(null=True)
    # Retries of what was stored before then are pulled forward (deliveries.catching_up).
    catch_up_before = models.DateTimeField(null=True)
    last_success_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "health"

    def __str__(self) -> str:
        return f"health of webhook {self.pk}"


class Wakeup(models.Model):
    """From when on a webhook is to be looked at (deliveries.engine.lanes)."""

    # Not unique on disk, where the table has no key: rows are added, and deleted by their place.
    webhook_id = models.BigIntegerField(primary_key=True)
    due_at = models.DateTimeField()

    class Meta:
        db_table = "deliveries_wakeup"

    def __str__(self) -> str:
        return f"wake-up of webhook {self.webhook_id}"


class TakenLane(models.Model):
    """A webhook that an engine loop works on just now."""

    webhook_id = models.BigIntegerField(primary_key=True)
    loop_id = models.UUIDField()

    class Meta:
        db_table = "deliveries_lane"

    def __str__(self) -> str:
        return f"webhook {self.webhook_id}"


class Loop(models.Model):
    """An engine loop and its lease (deliveries.engine.leases)."""

    id = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=255)
    process_id = models.IntegerField()
    started_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    # Given up by the other loops: what it worked on is theirs.
    lost = models.BooleanField()

    class Meta:
        db_table = "deliveries_loop"

    def __str__(self) -> str:
        return f"loop {self.process_id} on {self.host}"


class Pulse(models.Model):
    """How a periodic task goes (deliveries.upkeep.periodic), by the name of its function."""

    name = models.CharField(max_length=50, primary_key=True)
    # When a worker last began it because beat, or somebody else, had rung through the broker.
    at = models.DateTimeField(null=True)
    begun_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True, help_text="The last success.")
    # Of the run at work, if any.
    run = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(db_default=0, help_text="Begun since that success.")

    def __str__(self) -> str:
        return self.name


class Mail(models.Model):
    """An email that is still to be sent (deliveries.mailing)."""

    # Part of the Message-ID, so that a repeat can be recognised.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    address = models.EmailField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Begun.")

    def __str__(self) -> str:
        return self.subject


class SampleSend(models.Model):
    """A test send in flight (deliveries.on_demand)."""

    company_id = models.BigIntegerField()
    # The web process whose thread waits for it.
    process = models.CharField(max_length=300)
    # It has certainly ended by then, whatever became of its process.
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"test send of company {self.company_id}"
