"""Links in emails, and sessions that the platform's button opens."""

from django.db import models

from companies.models import ApiToken, Company
from tickets.models import Ticket


class TicketLink(models.Model):
    """Link of an email to one ticket. Only its digest is stored."""

    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    # First act of a person through it: opening it writes nothing.
    used_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"link {self.pk} to ticket {self.ticket_id}"


class PortalSession(models.Model):
    """Session of a person of a company, for whom the platform vouches.

    `url_digest` is that of the address that opens it once, `key_digest` that of its cookie.
    """

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="portal_sessions")
    # The token that asked for it: revoking the token ends the session.
    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+")
    # The ticket at which it begins; null for the list of tickets.
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, null=True, related_name="+")
    tickets = models.BooleanField(default=True)
    webhooks = models.BooleanField(default=True)
    language = models.CharField(max_length=10, blank=True)
    return_url = models.CharField(max_length=2000, blank=True)
    url_digest = models.CharField(max_length=64, unique=True)
    key_digest = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001 - not open
    created_at = models.DateTimeField()
    # Expiry of the address, then of the session.
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["expires_at"], name="portal_session_expiry")]

    def __str__(self) -> str:
        return f"session {self.pk} of company {self.company_id}"
