"""Models of the desk's tools: macros, visits, saved views and storms."""

import re

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from core.data.reading_order import ReadingOrder
from core.values.languages import LONGEST_CODE, language_choices
from tickets.models import ReasonCode, Ticket, TicketType
from tickets.statuses import Status

# Placeholders allowed in a macro's text.
PLACEHOLDERS = ("ticket", "company", "tracking", "agent")
PLACEHOLDER = re.compile(r"\{([a-zA-Z_]+)\}")


def check_placeholders(text: str) -> None:
    """Refuse unknown placeholders, which companies would see in braces. Raises ValidationError."""
    for name in PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            refusal = gettext(
                "There is no {%(name)s}. There are {ticket}, {company}, {tracking} and {agent}."
            )
            raise ValidationError({"text": refusal % {"name": name}})


class Macro(models.Model):
    """Prepared answer: text, move and requested documents."""

    name = models.CharField(_("name"), max_length=80, unique=True)
    text = models.TextField(
        _("text"), help_text=_("{ticket}, {company}, {tracking} and {agent} are replaced.")
    )
    public = models.BooleanField(
        _("public"),
        default=True,
        help_text=_("Sent to the company as a reply; otherwise an internal note."),
    )
    move_to = models.PositiveSmallIntegerField(
        _("move to"), choices=Ticket.STATUSES, null=True, blank=True
    )
    reason_code = models.ForeignKey(
        ReasonCode,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("reason code"),
        help_text=_("Of a decision. Without one the agent chooses."),
    )
    requested = models.TextField(
        _("requested"), blank=True, help_text=_("Documents to request, one per line.")
    )
    language = models.CharField(
        _("language"),
        max_length=LONGEST_CODE,
        choices=language_choices,
        blank=True,
        db_default="",
        help_text=_("A reply in it is offered only for companies of this language."),
    )
    types = models.ManyToManyField(
        TicketType,
        blank=True,
        help_text=_("Ticket types that offer this macro; none means all."),
        verbose_name=_("types"),
    )
    active = models.BooleanField(_("active"), default=True)

    class Meta:
        verbose_name = _("macro")
        verbose_name_plural = _("macros")
        ordering = [ReadingOrder("name")]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        check_placeholders(self.text)
        code, to = self.reason_code, self.move_to
        if code is not None and (to is None or not code.decides(Status(to))):
            refusal = gettext("Choose a code that fits the status to which the macro moves.")
            raise ValidationError({"reason_code": refusal})


class Visit(models.Model):
    """Visit of a user to a ticket's page: presence, and what they have seen."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="visits", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # Changes up to this time are not unread for the user.
    seen_at = models.DateTimeField()
    # Last heartbeat of the page; `writing` tells whether it had unsent text.
    alive_at = models.DateTimeField()
    writing = models.BooleanField(default=False)
    # Id of the last accepted form, so that a second click does not submit it again.
    last_form = models.UUIDField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ticket", "user"], name="one_visit_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.ticket}"


class SettledStep(models.Model):
    """Step of the first run that a lead has settled, or the mark that the checklist is hidden."""

    slug = models.CharField(max_length=20, primary_key=True)
    settled_by = models.CharField(max_length=150)
    settled_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.slug


class Storm(models.Model):
    """Storm: far more tickets about a carrier in an hour than usual, handled as one incident."""

    class State(models.TextChoices):
        PROPOSED = "proposed", pgettext_lazy("storm", "Proposed")
        OPEN = "open", pgettext_lazy("storm", "Open")
        DISMISSED = "dismissed", pgettext_lazy("storm", "Dismissed")
        CLOSED = "closed", pgettext_lazy("storm", "Closed")

    carrier_name = models.CharField(_("carrier name"), max_length=100)
    # Start of the counted hour.
    hour = models.DateTimeField(_("hour"))
    found = models.PositiveIntegerField(_("found"), help_text=_("Tickets opened in that hour."))
    usual = models.FloatField(_("usual"), help_text=_("Tickets usually opened in that hour."))
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PROPOSED)
    title = models.CharField(_("title"), max_length=200, blank=True)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    closed_at = models.DateTimeField(_("closed at"), null=True, editable=False)
    tickets = models.ManyToManyField(
        Ticket, related_name="storms", blank=True, verbose_name=_("tickets")
    )

    class Meta:
        verbose_name = _("storm")
        verbose_name_plural = _("storms")
        permissions = [
            ("answer_storm", "Can open, answer and close a storm"),
            ("view_figures", "Can see the figures of all agents"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["carrier_name"],
                condition=Q(state__in=["proposed", "open"]),
                name="one_storm_per_carrier_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        hour = date_format(timezone.localtime(self.hour), "SHORT_DATETIME_FORMAT")
        return self.title or f"{self.carrier_name}, {hour}"


class StormReply(models.Model):
    """Reply to all tickets of a storm, with its progress."""

    storm = models.ForeignKey(Storm, on_delete=models.CASCADE, related_name="replies")
    # Idempotency key of the form.
    key = models.UUIDField(unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    # Ids of links between storm and tickets: the last to answer, and the last processed.
    upto = models.BigIntegerField()
    at = models.BigIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    closed = models.PositiveIntegerField(
        default=0, help_text=_("Decided before the reply reached them.")
    )
    # Reasons by the id of each ticket that could not be answered.
    failed = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    stopped = models.CharField(
        max_length=200, blank=True, help_text=_("Why the reply stopped early.")
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = _("storm replies")
        indexes = [
            models.Index(
                fields=["id"], condition=Q(finished_at=None), name="storm_reply_unfinished"
            ),
        ]

    def __str__(self) -> str:
        """Summarize the tickets answered, closed meanwhile and failed, leaving out zeros."""
        closed, failed = self.closed, len(self.failed)
        parts = [ngettext("%(count)d answered", "%(count)d answered", self.answered)]
        if closed:
            parts.append(
                ngettext("%(closed)d closed meanwhile", "%(closed)d closed meanwhile", closed)
            )
        if failed:
            parts.append(ngettext("%(failed)d failed", "%(failed)d failed", failed))
        return ", ".join(parts) % {"count": self.answered, "closed": closed, "failed": failed}


class SavedView(models.Model):
    """Saved list of tickets: its queue, filters, search and order under a name."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    # Query string of the list, as written by desk/queue/places.py.
    query = models.CharField(max_length=500)
    shared = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = [ReadingOrder("name")]
        permissions = [("share_view", "Can share saved views")]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_view_of_a_name_per_person"),
        ]
        indexes = [
            models.Index(fields=["name"], condition=Q(shared=True), name="saved_view_shared"),
        ]

    def __str__(self) -> str:
        return self.name
