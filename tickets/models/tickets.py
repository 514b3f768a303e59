from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import Combinable
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from shipments.models import Incidence
from tickets.labels import STATUS_CHOICES
from tickets.models.carriers import spellings_of
from tickets.models.ticket_indexes import NOT_DECIDED, TICKET_INDEXES
from tickets.models.types import TicketType
from tickets.money import PLACES, Amounts
from tickets.statuses import BLOCKING, CLAIMS, OPEN, RUNNING, WAITING_FOR_COMPANY, Status


class TicketQuerySet(models.QuerySet["Ticket"]):
    def open(self) -> "TicketQuerySet":
        return self.filter(NOT_DECIDED)

    def running(self) -> "TicketQuerySet":
        """Those that wait for us."""
        return self.filter(status__in=RUNNING)

    def waiting_for_company(self) -> "TicketQuerySet":
        return self.filter(status__in=WAITING_FOR_COMPANY)

    def needing_agent(self) -> "TicketQuerySet":
        """Open ones, without those that wait for a company that has not replied.

        What a status needs is named, and not what it must not be: so the index is asked for ranges.
        """
        replied = Q(status__in=WAITING_FOR_COMPANY, company_spoke_last=True)
        return self.open().filter(Q(status__in=OPEN - WAITING_FOR_COMPANY) | replied)

    def claims(self) -> "TicketQuerySet":
        """Those with which a company asks for a claim."""
        return self.filter(status__in=CLAIMS)

    def about_carrier(self, name: str) -> "TicketQuerySet":
        """Those about a carrier, however the case of its name is written."""
        return self.filter(carrier_name__in=spellings_of(name))

    def newest(self) -> "TicketQuerySet":
        """Newest first, in the order of the index on a company's tickets."""
        return self.order_by("-created_at", "-pk")

    def behind(self, ticket: "Ticket") -> "TicketQuerySet":
        """Those that come after it in a list with the newest first."""
        at = ticket.created_at
        return self.filter(created_at__lte=at).exclude(created_at=at, pk__gte=ticket.pk)

    def blocking(
        self, type_id: int | Combinable, shipment_id: int | Combinable
    ) -> "TicketQuerySet":
        """What stands in the way of a second ticket (interface, Errors)."""
        return self.filter(type_id=type_id, shipment_id=shipment_id, status__in=BLOCKING)

    def escalated(self) -> "TicketQuerySet":
        """Open ones that were escalated, until they are answered, paused or decided."""
        return self.open().filter(escalated_due_at__isnull=False, escalated_due_at=F("due_at"))

    def urgent_first(self) -> "TicketQuerySet":
        """What is due first, then the oldest."""
        return self.order_by(F("due_at").asc(nulls_last=True), "pk")

    def waiting(self) -> "TicketQuerySet":
        """What the sweep has to find an agent for (decision T18)."""
        return self.needing_agent().filter(agent=None)

    def unawaited(self) -> "TicketQuerySet":
        """Return tickets for which no answer waits: nobody else is led to the others."""
        return self.exclude(pending_answers__due_at__isnull=False)

    def hold(self, ticket_id: int) -> "Ticket":
        """The ticket, its row locked until the transaction ends. Raises Ticket.DoesNotExist.

        Comments and history rows point at it: a stronger lock would make their inserts wait.
        """
        held = self.select_for_update(of=("self",), no_key=True)
        # Its clocks ask for the company's plan.
        return held.select_related("company").get(pk=ticket_id)


class Ticket(models.Model):
    """A company's request about a shipment, a credit, a carrier, a package or a credit line."""

    STATUSES = STATUS_CHOICES

    # An index below begins with the company.
    company = models.ForeignKey(
        Company,
        on_delete=models.PROTECT,
        related_name="tickets",
        db_index=False,
        verbose_name=_("company"),
    )
    # As the company: see the desk's filters among the indexes.
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
    # The company's own JSON text: its keys keep their order, its numbers their digits.
    data = models.TextField(null=True, blank=True)  # noqa: DJ001 - null says none was given
    # Plain numbers: an id that we do not know is remembered, not refused (decision T12).
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
    # As the shipment said when the ticket was opened: the desk counts and searches by it.
    carrier_name = models.CharField(_("carrier name"), max_length=100, blank=True, editable=False)
    # Due dates (tickets/sla/due_dates.py), set at every change of state; the queues read them.
    first_response_due_at = models.DateTimeField(null=True, editable=False)
    resolution_due_at = models.DateTimeField(null=True, editable=False)
    # The earlier of the two that still run; null while none does.
    due_at = models.DateTimeField(_("due at"), null=True, editable=False)
    # The `due_at` for which it was escalated: another one may be escalated again.
    escalated_due_at = models.DateTimeField(null=True, editable=False)
    # The day on which the carrier stops taking the claim.
    filing_due_at = models.DateTimeField(null=True, editable=False)
    first_responded_at = models.DateTimeField(null=True, editable=False)
    # True if the last public comment is the company's.
    company_spoke_last = models.BooleanField(default=False, db_default=False, editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)
    # Null also where no user decided: an automation, or the company in the test environment. A
    # trigger writes it from the history.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
        editable=False,
        verbose_name=_("decided by"),
    )
    # Why it was decided as it is: the code of a ReasonCode. Empty while it is open.
    reason_code = models.CharField(
        _("reason code"), max_length=40, blank=True, default="", db_default="", editable=False
    )
    # The money that it is about, in one currency (tickets/changes/decisions.py).
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
    # Of the rules behind its due dates: when they change, these are recalculated.
    clock_digest = models.BigIntegerField(default=0, editable=False)
    # Counts every change of state.
    version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(_("created at"))
    updated_at = models.DateTimeField(_("updated at"))
    # `created_at` of its last event (decision N2); null while none was published but its first.
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
    def amounts(self) -> Amounts:
        return Amounts(self.amount_claimed, self.amount_offered, self.amount_paid, self.currency)

    @amounts.setter
    def amounts(self, to: Amounts) -> None:
        self.amount_claimed, self.amount_offered, self.amount_paid = (one for _, one in to)
        self.currency = to.currency


class Document(models.Model):
    """A document field of a ticket. Its value is never fetched (decision T16)."""

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
    """A ticket and the known problem it is about (decision T19)."""

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
