"""A client of the API."""

from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext_lazy as _

from core.values.languages import LONGEST_CODE, language_choices
from core.values.zones import validate_zone, zone_named


class Company(models.Model):
    """A client of the API. Tickets, webhooks and shipments belong to a company."""

    name = models.CharField(_("name"), max_length=200)
    active = models.BooleanField(
        _("active"),
        default=True,
        help_text=_("An inactive company's tokens are refused, and its webhooks are paused."),
    )
    contact_email = models.EmailField(
        _("contact email"),
        blank=True,
        help_text=_("We email this address when a webhook is paused or a ticket needs an answer."),
    )
    ticket_emails = models.BooleanField(
        _("emails about tickets"),
        default=True,
        db_default=True,
        help_text=_(
            "Email it when one of its tickets is Incomplete or Declined, or an appeal is decided."
        ),
    )
    language = models.CharField(
        _("language"),
        max_length=LONGEST_CODE,
        choices=language_choices,
        blank=True,
        db_default="",
        help_text=_("What we write to it is in this language; if empty, in the deployment's."),
    )
    time_zone = models.CharField(
        _("time zone"),
        max_length=50,
        blank=True,
        default="",
        db_default="",
        validators=[validate_zone],
        help_text=_("What we write to it has times of this zone."),
    )
    plan = models.CharField(
        _("plan"),
        max_length=50,
        blank=True,
        help_text=_("Selects the service level of its tickets."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    # Start of its erasure (companies.erasing); it is inactive for ever.
    erased_at = models.DateTimeField(null=True, editable=False)

    # REST framework reads this from what authentication returned as the user.
    is_authenticated = True

    class Meta:
        verbose_name = _("company")
        verbose_name_plural = _("companies")

    def __str__(self) -> str:
        return self.name

    @property
    def written_language(self) -> str:
        """Language of what we write to it (decision N21)."""
        try:
            return get_supported_language_variant(self.language)
        except LookupError:
            return settings.DESK_LANGUAGE

    @property
    def zone(self) -> ZoneInfo:
        """Time zone of what we write to it (decision N32)."""
        return zone_named(self.time_zone)


class SearchName(models.Model):
    """Search index of companies' names, maintained by a trigger."""

    company = models.OneToOneField(
        Company, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    # Forms that search_words() and search_names() return.
    words = models.TextField()
    nearly = ArrayField(models.TextField())

    class Meta:
        default_permissions = ()
        indexes = [GinIndex(fields=["nearly"], fastupdate=False, name="search_names_nearly")]

    def __str__(self) -> str:
        return self.words
