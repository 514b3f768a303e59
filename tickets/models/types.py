from django.db import models


class TicketTypeQuerySet(models.QuerySet["TicketType"]):
    def offered(self) -> "TicketTypeQuerySet":
        """Those that companies may open tickets of; tickets of the others go on (decision N27)."""
        return self.filter(active=True)


class TicketType(models.Model):
    """What a ticket may be about. A table: the source's list is incomplete (decision T14)."""

    class Reference(models.TextChoices):
        """What a ticket of this type points at, as clients know it."""

        NOTHING = "", "nothing"
        SHIPMENT = "guide", "a shipment"
        CREDIT = "credit", "a credit"
        PACKAGE = "warehouse-package", "a warehouse package"
        DOCUMENTS = "legal-credit", "documents"

    id = models.PositiveIntegerField(primary_key=True)
    name = models.CharField(max_length=50, unique=True)
    description = models.CharField(max_length=300, blank=True)
    reference = models.CharField(max_length=20, choices=Reference, blank=True)
    # A PO box ticket may name its package, and need not.
    reference_required = models.BooleanField(default=True)
    active = models.BooleanField(default=True)

    objects = TicketTypeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name.replace("_", " ")
