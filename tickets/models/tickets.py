from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.expressions import Combinable
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from shipments.models import Incidence, Shipment
from tickets.labels import STATUS_CHOICES
from tickets.models.carriers import spellings_of
from tickets.models.ticket_indexes import NOT_DECIDED, TICKET_INDEXES
from tickets.models.types import TicketType
from tickets.money import PLACES, Amounts
from tickets.statuses import BLOCKING, CLAIMS, OPEN, RUNNING, WAITING_FOR_COMPANY, Status


def parcel_column(name: str) -> Subquery:
    """Return an expression for a column of the ticket's shipment, null if it is not the company's.

    A shipment id of another company must not reveal that parcel (decision T12).
    """
    own = Shipment.objects.filter(pk=OuterRef("shipment_id"), company=OuterRef("company"))
    return Subquery(own.values(name)[:1])


class TicketQuerySet(models.QuerySet["Ticket"]):
    def open(self) -> "TicketQuerySet":
        return self.filter(NOT_DECIDED)

    def running(self) -> "TicketQuerySet":
        """Filter tickets whose clock runs."""
        return self.filter(status__in=RUNNING)

    def waiting_for_company(self) -> "TicketQuerySet":
        return self.filter(status__in=WAITING_FOR_COMPANY)

    def needing_agent(self) -> "TicketQuerySet":
        """Filter open tickets, except those waiting for a company that has not replied.

        Lists the statuses instead of excluding others, so that the index can use ranges.
        """
        replied = Q(status__in=WAITING_FOR_COMPANY, company_spoke_last=True)
        return self.open().filter(Q(status__in=OPEN - WAITING_FOR_COMPANY) | replied)

    def claims(self) -> "TicketQuerySet":
        """Filter tickets with which a company requests a claim."""
        return self.filter(status__in=CLAIMS)

    def about_carrier(self, name: str) -> "TicketQuerySet":
        """Filter tickets about a carrier (case-insensitive)."""
        return self.filter(carrier_name__in=spellings_of(name))

    def newest(self) -> "TicketQuerySet":
        """Order by newest first, as in the index on a company's tickets."""
        return self.order_by("-created_at", "-pk")

    def after(self, ticket: "Ticket") -> "TicketQuerySet":
        """Filter tickets after this one in a list ordered by newest first."""
        at = ticket.created_at
        return self.filter(created_at__lte=at).exclude(created_at=at, pk__gte=ticket.pk)

    def blocking(
        self, type_id: int | Combinable, shipment_id: int | Combinable
    ) -> "TicketQuerySet":
        """Filter tickets that block a second one (interface, Errors)."""
        return self.filter(type_id=type_id, shipment_id=shipment_id, status__in=BLOCKING)

    def escalated(self) -> "TicketQuerySet":
        """Filter open tickets that are escalated and not answered, paused or decided since."""
        return self.open().filter(escalated_due_at__isnull=False, escalated_due_at=F("due_at"))

    def urgent_first(self) -> "TicketQuerySet":
        """Order by due date, then by age."""
        return self.order_by(F("due_at").asc(nulls_last=True), "pk")

    def waiting(self) -> "TicketQuerySet":
        """Filter tickets that need an agent and have none (decision T18)."""
        return self.needing_agent().filter(agent=None)

    def unawaited(self) -> "TicketQuerySet":
        """Exclude tickets with a pending answer, which are not offered to other agents."""
        return self.exclude(pending_answers__due_at__isnull=False)

    def hold(self, ticket_id: int) -> "Ticket":
        """Lock a ticket until the transaction ends, and return it. Raises Ticket.DoesNotExist.

        A stronger lock would block inserts of comments and history, which refer to the row.
        """
        locked = self.select_for_update(of=("self",), no_key=True)
        # The clocks need the company's plan.
        return locked.select_related("company").get(pk=ticket_id)


class Ticket(models.Model):
    """Request of a company about a shipment, a credit, a carrier, a package or a credit line."""

    STATUSES = STATUS_CHOICES

    # No index of its own, as others in Meta begin with the company.
    company = models.ForeignKey(
        Company,
        on_delete=models.PROTECT,
        related_name="tickets",
        db_index=False,
        verbose_name=_("company"),
    )
    # No index of its own, as others in Meta begin with the type.
    type = models.ForeignKey(
        TicketType,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("type"),
    )
    status = models.PositiveSmallIntegerField(
        _("status"), choices=STATUSES, default=Status.PENDING.value
    )
    comments = models.TextField(blank=True, help_text=_("What the company first wrote."))
    # JSON text as the company sent it, to preserve the order of keys and the digits of numbers.
    data = models.TextField(null=True, blank=True)  # noqa: DJ001 - null says none was given
    # Plain numbers without constraints, as unknown ids are accepted (decision T12).
    shipment_id = models.BigIntegerField(null=True, blank=True)
    credit_id = models.BigIntegerField(null=True, blank=True)
    carrier_id = models.BigIntegerField(_("carrier id"), null=True, blank=True)
    warehouse_package_id = models.CharField(  # noqa: DJ001 - the interface's default is null
        max_length=255, null=True, blank=True
    )
    agent = models.ForeignKey(
        "tickets.Agent",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="tickets",
        db_index=False,
        verbose_name=_("agent"),
    )
    # Copied from the shipment, for statistics and searches of the desk.
    carrier_name = models.CharField(_("carrier name"), max_length=100, blank=True, editable=False)
    # Due dates (tickets/sla/due_dates.py), set at every change of state; the queues read them.
    first_response_due_at = models.DateTimeField(null=True, editable=False)
    resolution_due_at = models.DateTimeField(null=True, editable=False)
    # The earlier of the two that still run; null if neither does.
    due_at = models.DateTimeField(_("due at"), null=True, editable=False)
    # The `due_at` for which it was escalated; with another one it may be escalated again.
    escalated_due_at = models.DateTimeField(null=True, editable=False)
    # Claim deadline of the carrier.
    filing_due_at = models.DateTimeField(null=True, editable=False)
    first_responded_at = models.DateTimeField(null=True, editable=False)
    # True if the last public comment is the company's.
    company_spoke_last = models.BooleanField(default=False, db_default=False, editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)
    # Written by a trigger from the history. Null if the decision was not a user's but an
    # automation's, or the company's in the test environment.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
        editable=False,
        verbose_name=_("decided by"),
    )
    # Code of the decision's ReasonCode; empty while the ticket is open.
    reason_code = models.CharField(
        _("reason code"), max_length=40, blank=True, default="", db_default="", editable=False
    )
    # Amounts in one currency (tickets/changes/decisions.py).
    amount_claimed = models.DecimalField(
        max_digits=14, decimal_places=PLACES, null=True, editable=False
    )
    amount_offered = models.DecimalField(
        max_digits=14, decimal_places=PLACES, null=True, editable=False
    )
    amount_paid = models.DecimalField(
        max_digits=14, decimal_places=PLACES, null=True, editable=False
    )
    currency = models.CharField(
        _("currency"), max_length=3, blank=True, default="", db_default="", editable=False
    )
    # Digest of the rules used for the due dates, which are recalculated when it changes.
    clock_digest = models.BigIntegerField(default=0, editable=False)
    # Incremented with every change of state.
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(_("created at"))
    updated_at = models.DateTimeField(_("updated at"))
    # `created_at` of its last event (decision N2); null until the second one is published.
    last_event_at = models.DateTimeField(null=True, editable=False)

    objects = TicketQuerySet.as_manager()

    class Meta:
        verbose_name = _("ticket")
        verbose_name_plural = _("tickets")
        permissions = [
            ("reopen_ticket", "Can reopen a decided ticket"),
            ("assign_ticket", "Can assign tickets to other agents"),
            ("export_ticket", "Can export lists of tickets"),
        ]
        indexes = TICKET_INDEXES

    def __str__(self) -> str:
        return gettext("ticket %(ticket)s") % {"ticket": self.pk}

    @property
    def colour(self) -> str:
        """Colour of the status, a class of the style sheets."""
        return Status(self.status).row.colour.value

    @property
    def amounts(self) -> Amounts:
        return Amounts(self.amount_claimed, self.amount_offered, self.amount_paid, self.currency)

    @amounts.setter
    def amounts(self, to: Amounts) -> None:
        self.amount_claimed, self.amount_offered, self.amount_paid = (one for _, one in to)
        self.currency = to.currency


class Document(models.Model):
    """Document field of a ticket. Its value is never fetched (decision T16)."""

    class Type(models.TextChoices):
        FILE = "file"
        INPUT = "input"
        DATE = "date"

    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="documents")
    position = models.PositiveIntegerField()
    field_id = models.CharField(max_length=50)
    key = models.TextField(null=True)  # noqa: DJ001 - an absent key is not an empty one
    type = models.CharField(max_length=5, choices=Type, null=True)  # noqa: DJ001 - as key
    value = models.TextField(null=True)  # noqa: DJ001 - the interface allows null

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return self.field_id


class IncidenceLink(models.Model):
    """Link between a ticket and an incidence (decision T19)."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="incidence_links", db_index=False
    )
    incidence = models.ForeignKey(Incidence, on_delete=models.CASCADE, related_name="ticket_links")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ticket", "incidence"], name="one_link_per_ticket_and_incidence"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.ticket_id} about {self.incidence_id}"
