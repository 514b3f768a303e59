"""State of receivers, and of the engine itself."""

from typing import Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

from webhooks.models import Webhook


class Health(models.Model):
    """Health of a webhook's receiver, written when it changes and not per delivery."""

    webhook = models.OneToOneField(
        Webhook, on_delete=models.CASCADE, primary_key=True, related_name="health"
    )
    failures = models.PositiveIntegerField(default=0, help_text="Consecutive failures.")
    rests = models.PositiveIntegerField(default=0, help_text="Deliveries since the last success.")
    failing_since = models.DateTimeField(null=True)
    resting_until = models.DateTimeField(null=True)
    # End of the part of a rest that the receiver asked for (Retry-After).
    asked_until = models.DateTimeField(null=True)
    # Retries of deliveries stored before this are pulled forward (deliveries.redelivery).
    catch_up_before = models.DateTimeField(null=True)
    last_success_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "health"

    def __str__(self) -> str:
        return f"health of webhook {self.pk}"


class Wakeup(models.Model):
    """Time from which a webhook is to be looked at (deliveries.engine.lanes)."""

    # The table has no key, so this is not unique: rows are appended and deleted by their ctid.
    webhook_id = models.BigIntegerField(primary_key=True)
    due_at = models.DateTimeField()

    class Meta:
        db_table = "deliveries_wakeup"

    def __str__(self) -> str:
        return f"wake-up of webhook {self.webhook_id}"


class TakenLane(models.Model):
    """A webhook that an engine loop is working on."""

    webhook_id = models.BigIntegerField(primary_key=True)
    loop_id = models.UUIDField()
    # Its front, if a look from the beginning takes long (deliveries.engine.fronts).
    since = models.DateTimeField(null=True)

    class Meta:
        db_table = "deliveries_lane"

    def __str__(self) -> str:
        return f"webhook {self.webhook_id}"


class Loop(models.Model):
    """An engine loop (deliveries.engine.leases). It has a heartbeat until it is lost."""

    id = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=255)
    process_id = models.IntegerField()
    started_at = models.DateTimeField()
    # Other loops have taken over its claims, as its lease has expired.
    lost = models.BooleanField()
    lost_at = models.DateTimeField(null=True)
    # False while it stops: it gets no more webhooks, and its place is free.
    takes_lanes = models.BooleanField(default=False, db_default=False)
    worker = models.CharField(max_length=300, blank=True, db_default="")
    # True once it was asked to give up its place to a loop of another worker.
    yields = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = "deliveries_loop"

    def __str__(self) -> str:
        return f"loop {self.process_id} on {self.host}"


class Heartbeat(models.Model):
    """Lease of an engine loop, written once a second (deliveries.engine.leases)."""

    loop = models.OneToOneField(
        Loop,
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="heartbeat",
    )
    lease_until = models.DateTimeField()
    busy = models.PositiveSmallIntegerField(db_default=0, help_text="Slots in use.")
    # Fault of the outgoing proxy, as far as this loop knows.
    proxy_trouble = models.CharField(max_length=200, blank=True, db_default="")
    # The time before which it knows of no wake-up (deliveries.engine.fronts).
    front = models.DateTimeField(null=True)

    class Meta:
        db_table = "deliveries_heartbeat"

    def __str__(self) -> str:
        return f"heartbeat of loop {self.pk}"


class Quarantine(models.Model):
    """The one loop that sends suspects (deliveries.engine.quarantine)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    loop_id = models.UUIDField()

    def __str__(self) -> str:
        return f"loop {self.loop_id} is in quarantine"


class Drain(models.Model):
    """A single row; while it exists, no loop claims anything (deliveries.engine.holding)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    since = models.DateTimeField(auto_now_add=True)
    by = models.CharField(max_length=200)
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_drain")]

    def __str__(self) -> str:
        return f"drained by {self.by}"


class HeldHostQuerySet(models.QuerySet["HeldHost"]):
    def in_force(self) -> Self:
        """Return the holds that have not expired."""
        return self.filter(Q(held_until=None) | Q(held_until__gt=timezone.now()))


class HeldHost(models.Model):
    """A host that gets nothing until released or a time is over (deliveries.engine.holding)."""

    host = models.CharField(max_length=255, primary_key=True)
    held_at = models.DateTimeField(auto_now_add=True)
    held_until = models.DateTimeField(null=True)
    by = models.CharField(max_length=200)
    # For operators; companies see `public_reason`.
    reason = models.CharField(max_length=200, blank=True)
    public_reason = models.CharField(max_length=200, blank=True, db_default="")

    objects = HeldHostQuerySet.as_manager()

    class Meta:
        permissions = [("stop_sending", "Can hold hosts, drain and resume")]

    def __str__(self) -> str:
        return self.host
