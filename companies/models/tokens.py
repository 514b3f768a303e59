"""Tokens of the API."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.db.models.expressions import Combinable
from django.utils.translation import gettext_lazy as _

from companies.models.company import Company

# A token may have been used this much later than `last_used_at`: not every request writes.
LAST_USED_PRECISION = timedelta(minutes=1)


class Token(models.Model):
    """A token. Only its digest is stored; the token is shown once (decision E9)."""

    prefix = models.CharField(_("prefix"), max_length=20, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.prefix}…"


def lives(now: datetime | Combinable) -> Q:
    """Return the condition for a token that is neither expired nor revoked."""
    return (Q(expires_at=None) | Q(expires_at__gt=now)) & Q(revoked_at=None)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def live(self, now: datetime | Combinable) -> "ApiTokenQuerySet":
        return self.filter(lives(now), company__active=True)


class ApiToken(Token):
    """A company's token."""

    company = models.ForeignKey(
        Company, on_delete=models.CASCADE, related_name="tokens", verbose_name=_("company")
    )

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")


class PlatformToken(Token):
    """The shipping platform's token, which opens its feed and nothing else (decision N25)."""

    name = models.CharField(max_length=100, blank=True)

    # REST framework's permission asks for it, as on Company.
    is_authenticated = True

    class Meta:
        verbose_name = "platform token"
