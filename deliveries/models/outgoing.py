"""Test sends in flight, and runs of deliveries that are sent again."""

from datetime import UTC, datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from deliveries.models.queue import State

BEFORE_ALL = datetime(1, 1, 1, tzinfo=UTC)


class SampleSend(models.Model):
    """A test send in flight (deliveries.on_demand)."""

    company_id = models.BigIntegerField()
    # The web process whose thread waits for it.
    process = models.CharField(max_length=300)
    # It has ended by then, even if its process was killed.
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"test send of company {self.company_id}"


class Replay(models.Model):
    """A run of deliveries that are sent again at a rate (deliveries.upkeep.replaying)."""

    created_at = models.DateTimeField(_("begun"), auto_now_add=True)
    by = models.CharField(_("by"), max_length=200)
    # Criteria of its deliveries, which must all hold. No foreign keys: they are never looked up.
    webhook_id = models.BigIntegerField(_("webhook"), null=True)
    company_id = models.BigIntegerField(_("company"), null=True)
    host = models.CharField(_("host"), max_length=255, blank=True)
    type_id = models.PositiveSmallIntegerField(_("type"), null=True)
    since = models.DateTimeField(_("created from"), null=True)
    until = models.DateTimeField(_("created before"))
    state = models.PositiveSmallIntegerField(_("state"), choices=State)
    rate = models.PositiveIntegerField(_("per second"))
    total = models.BigIntegerField(_("of"), help_text="As counted at the beginning.")
    passed = models.BigIntegerField(_("passed"), default=0)
    # Fewer than it has passed: deliveries in flight are left alone.
    sent = models.BigIntegerField(_("made due"), default=0)
    # The last delivery that it has passed.
    at_webhook = models.BigIntegerField(default=0)
    at_time = models.DateTimeField(default=BEFORE_ALL)
    at_event = models.BigIntegerField(default=0)
    moved_at = models.DateTimeField(auto_now_add=True)
    next_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    stopped_by = models.CharField(_("stopped by"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("run of deliveries sent again")
        verbose_name_plural = _("runs of deliveries sent again")

    def __str__(self) -> str:
        return f"run {self.pk}"
