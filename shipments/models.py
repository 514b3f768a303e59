from collections.abc import Sequence
from typing import Self

from django.db import models
from django.db.models import Case, Func, Q, Value, When
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.values.spellings import SearchKey, plain_digits, with_numbers


class ShipmentQuerySet(models.QuerySet["Shipment"]):
    def numbered(self, numbers: Sequence[str]) -> Self:
        """Filter by tracking numbers, in any spelling.

        Ordering by `place` follows the order of `numbers`; within one number, its exact spelling
        comes before the others.
        """
        wanted = [number for number in numbers if number and "\x00" not in number]
        exact = [When(tracking_number=one, then=2 * at) for at, one in enumerate(wanted)]
        others = [
            When(number_key=SearchKey.of(spelled), then=2 * at + 1)
            for at, one in enumerate(wanted)
            for spelled in dict.fromkeys([one, plain_digits(one)])
        ]
        place = Case(*exact, *others, default=Value(0))
        return with_numbers(self, wanted).alias(place=place)


class Shipment(models.Model):
    """A parcel of the shipping platform, with the platform's id."""

    id = models.BigIntegerField(primary_key=True)
    company = models.ForeignKey(
        Company, on_delete=models.PROTECT, related_name="shipments", verbose_name=_("company")
    )
    tracking_number = models.CharField(_("tracking number"), max_length=100)
    carrier_name = models.CharField(_("carrier name"), max_length=100)
    carrier_id = models.BigIntegerField(_("carrier id"), null=True)
    order = models.JSONField(
        _("order"), null=True, help_text="The shop's order, for ecommerce events."
    )
    # The platform's text; statuses.py need not list it (decision W18).
    status = models.CharField(_("status"), max_length=100, default="Created")
    created_at = models.DateTimeField(_("created at"))
    shipped_at = models.DateTimeField(_("shipped at"), null=True)
    delivered_at = models.DateTimeField(_("delivered at"), null=True)
    # Time in its latest event: the next one's is later (decision N2).
    last_event_at = models.DateTimeField(null=True)
    # Digests of the latest hundred lines about the shipment itself (applying.is_new_line).
    heard = models.BinaryField(default=bytes)

    objects = ShipmentQuerySet.as_manager()

    class Meta:
        verbose_name = _("shipment")
        verbose_name_plural = _("shipments")
        indexes = [
            models.Index(fields=["tracking_number", "company"], name="shipment_tracking_number"),
        ]

    def __str__(self) -> str:
        return self.tracking_number


class Today(Func):
    """The database's current date."""

    template = "CURRENT_DATE"
    output_field = models.DateField()


class TrackingUpdate(models.Model):
    """A scan of a shipment, as the feed reported it. The table is partitioned by week."""

    # No index: that of the unique constraint begins with this column.
    shipment = models.ForeignKey(
        Shipment,
        on_delete=models.CASCADE,
        related_name="updates",
        db_index=False,
        db_constraint=False,
        verbose_name=_("shipment"),
    )
    # Digest of the line's values: a repeated line is the same update.
    digest = models.BinaryField(max_length=16)
    status = models.CharField(_("status"), max_length=100)
    status_description = models.CharField(_("status description"), max_length=500, blank=True)
    location = models.CharField(_("location"), max_length=300, blank=True)
    occurred_at = models.DateTimeField(_("occurred at"))
    # Day of recording by our own clock: a line may have any time. Retention moves it forward.
    day = models.DateField(_("day"), db_default=Today())

    class Meta:
        verbose_name = _("tracking update")
        verbose_name_plural = _("tracking updates")
        constraints = [
            # The lock on the shipment prevents duplicates on different days.
            models.UniqueConstraint(
                fields=["shipment", "digest", "day"], name="one_update_per_line"
            ),
        ]

    def __str__(self) -> str:
        return gettext("scan %(number)s") % {"number": self.pk}


class Surcharge(models.Model):
    """Money on top of a shipment's price, or its refund."""

    class Transaction(models.TextChoices):
        SURCHARGE = "surcharge", _("Surcharge")
        REFUND = "refund", _("Refund")

    surcharge_id = models.BigIntegerField(_("surcharge id"))
    transaction_type = models.CharField(_("transaction type"), max_length=10, choices=Transaction)
    shipment = models.ForeignKey(
        Shipment, on_delete=models.CASCADE, related_name="surcharges", verbose_name=_("shipment")
    )
    surcharge_type = models.CharField(_("surcharge type"), max_length=100)
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    amount = models.DecimalField(_("amount"), max_digits=14, decimal_places=4)
    currency = models.CharField(_("currency"), max_length=3)
    created_at = models.DateTimeField(_("created at"))

    class Meta:
        verbose_name = _("surcharge")
        verbose_name_plural = _("surcharges")
        constraints = [
            # A refund carries the id of the charge it reverses.
            models.UniqueConstraint(
                fields=["surcharge_id", "transaction_type"], name="one_charge_and_one_refund"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_transaction_type_display()} {self.surcharge_id}"


class Incidence(models.Model):
    """A known problem with a shipment, with the platform's id."""

    id = models.BigIntegerField(primary_key=True)
    shipment = models.ForeignKey(
        Shipment, on_delete=models.CASCADE, related_name="incidences", verbose_name=_("shipment")
    )
    # Name of a shipment-based ticket type; empty matches every type (decision T19).
    kind = models.CharField(_("kind"), max_length=50, blank=True)
    description = models.CharField(_("description"), max_length=500, blank=True)
    open = models.BooleanField(_("open"), default=True)
    created_at = models.DateTimeField(_("created at"))
    heard = models.BinaryField(default=bytes)

    class Meta:
        verbose_name = _("incidence")
        verbose_name_plural = _("incidences")
        indexes = [
            models.Index(fields=["shipment"], condition=Q(open=True), name="incidence_open"),
        ]

    def __str__(self) -> str:
        return gettext("incidence %(number)s") % {"number": self.pk}
