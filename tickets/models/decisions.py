"""Reason codes of decisions, and approval limits of agents (decision N19)."""

from collections.abc import Iterable

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from core.values.languages import check_languages, text_in
from core.values.money import money_text
from tickets.models.types import TicketType
from tickets.money import MOST, PLACES
from tickets.statuses import ACCEPTING, TERMINAL, Status

OTHER = "other"
LONGEST_CODE = 40


class ReasonCodeQuerySet(models.QuerySet["ReasonCode"]):
    def about(self, type_ids: Iterable[int]) -> "ReasonCodeQuerySet":
        """Filter active codes that apply to tickets of all of these types."""
        codes = self.filter(active=True)
        chosen = ReasonCode.types.through.objects.filter(reasoncode=models.OuterRef("pk"))
        for type_id in set(type_ids):
            codes = codes.filter(
                ~models.Exists(chosen) | models.Exists(chosen.filter(tickettype=type_id))
            )
        return codes


class ReasonCode(models.Model):
    """Reason of decisions, for statistics. Its code never changes, as tickets store it."""

    code = models.CharField(
        _("code"),
        max_length=LONGEST_CODE,
        unique=True,
        validators=[
            RegexValidator(
                r"^[a-z][a-z0-9_]*\Z",
                _("Start with a lower-case letter; then use lower-case letters, digits and _."),
            )
        ],
        help_text=_("For programs and reports, for example damage_confirmed. It never changes."),
    )
    # Names by language code.
    names = models.JSONField(default=dict, validators=[check_languages])
    for_accepted = models.BooleanField(_("for Accepted"), default=False)
    for_declined = models.BooleanField(_("for Declined"), default=False)
    types = models.ManyToManyField(
        TicketType,
        verbose_name=_("ticket types"),
        blank=True,
        help_text=_("None means all."),
    )
    active = models.BooleanField(
        _("active"), default=True, help_text=_("Codes that are not active are not offered.")
    )
    position = models.PositiveSmallIntegerField(
        _("position"), default=100, help_text=_("Smaller numbers are offered first.")
    )

    objects = ReasonCodeQuerySet.as_manager()

    class Meta:
        ordering = ["position", "code"]
        verbose_name = _("reason code")
        verbose_name_plural = _("reason codes")

    def __str__(self) -> str:
        return text_in(get_language(), self.names)

    def decides(self, to: Status) -> bool:
        """Return whether the code applies to a move to this status, which must be a decision."""
        return to in TERMINAL and (self.for_accepted if to in ACCEPTING else self.for_declined)


class ApprovalLimit(models.Model):
    """Amount up to which an agent who is not a lead may accept; unlimited without any row."""

    agent = models.ForeignKey(
        "tickets.Agent",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="approval_limits",
        verbose_name=_("agent"),
        help_text=_("Leave empty for all agents who are not leads and have no limit of their own."),
    )
    currency = models.CharField(_("currency"), max_length=3)
    amount = models.DecimalField(
        _("amount"), max_digits=14, decimal_places=PLACES, validators=[MinValueValidator(0)]
    )

    class Meta:
        ordering = ["agent", "currency"]
        verbose_name = _("approval limit")
        verbose_name_plural = _("approval limits")
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "currency"],
                nulls_distinct=False,
                name="one_approval_limit_per_agent_and_currency",
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=0, amount__lte=MOST), name="approval_limit_in_range"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent or _('all agents')}: {money_text(self.amount, self.currency)}"
