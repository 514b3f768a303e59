from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.expressions import Combinable
from django.utils.translation import gettext_lazy

from companies.encryption import EncryptedTextField


class Company(models.Model):
    """A client of the API. Tickets, webhooks and shipments belong to a company."""

    name = models.CharField(max_length=200)
    active = models.BooleanField(
        default=True,
        help_text=gettext_lazy(
            "An inactive company's tokens are refused, and its webhooks are paused."
        ),
    )
    contact_email = models.EmailField(
        blank=True,
        help_text=gettext_lazy(
            "We email this address when a webhook is paused or a ticket needs an answer."
        ),
    )
    ticket_emails = models.BooleanField(
        gettext_lazy("emails about tickets"),
        default=True,
        db_default=True,
        help_text=gettext_lazy(
            "Email it when one of its tickets is Incomplete or Declined, or an appeal is decided."
        ),
    )
    language = models.CharField(
        max_length=5,
        choices=settings.LANGUAGES,
        blank=True,
        db_default="",
        help_text=gettext_lazy(
            "What we write to it is in this language; if empty, in the deployment's."
        ),
    )
    plan = models.CharField(
        max_length=50,
        blank=True,
        help_text=gettext_lazy("Selects the service level of its tickets."),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    # REST framework reads this from what authentication returned as the user.
    is_authenticated = True

    class Meta:
        verbose_name_plural = gettext_lazy("companies")

    def __str__(self) -> str:
        return self.name

    @property
    def written_language(self) -> str:
        """The language of what we write to it (decision N21)."""
        return self.language or settings.LANGUAGE_CODE


class SearchName(models.Model):
    """What a company's name is found by. A trigger writes it, also for the version before."""

    company = models.OneToOneField(
        Company, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    # As search_words() has them, and search_names().
    words = models.TextField()
    nearly = ArrayField(models.TextField())

    class Meta:
        default_permissions = ()
        indexes = [GinIndex(fields=["nearly"], fastupdate=False, name="search_names_nearly")]

    def __str__(self) -> str:
        return self.words


class Token(models.Model):
    """A token. Only its digest is stored; the token is shown once (decision E9)."""

    prefix = models.CharField(max_length=20, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.prefix}…"


def lives(now: datetime | Combinable) -> Q:
    """The condition on a token that is neither expired nor revoked."""
    return (Q(expires_at=None) | Q(expires_at__gt=now)) & Q(revoked_at=None)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def live(self, now: datetime | Combinable) -> "ApiTokenQuerySet":
        return self.filter(lives(now), company__active=True)


class ApiToken(Token):
    """A company's token."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="tokens")

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("API token")


class PlatformToken(Token):
    """The shipping platform's token, which opens its feed and nothing else (decision N25)."""

    name = models.CharField(max_length=100, blank=True)

    # As on Company: REST framework's permission asks for it.
    is_authenticated = True

    class Meta:
        verbose_name = "platform token"


class KeptAnswer(models.Model):
    """The first response to a POST with an Idempotency-Key.

    Why: decision page idempotency-the-first-answer-again.
    """

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    # Without the secrets that the answer showed.
    body = models.JSONField()
    # All of it, if it showed a secret (decision N16).
    secret_body = EncryptedTextField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "key"], name="one_answer_per_key"),
        ]
        indexes = [models.Index(fields=["created_at"], name="kept_answer_age")]

    def __str__(self) -> str:
        return f"{self.status} for {self.key}"


class KeptBundle(models.Model):
    """A bundle of the platform's feed with an Idempotency-Key: being recorded, or answered.

    Why: decision N25.
    """

    key = models.CharField(max_length=255, unique=True)
    fingerprint = models.CharField(max_length=64)
    # Whoever records it renews this. Once it is over, the next request with the key may begin.
    busy_until = models.DateTimeField(null=True)
    # The JSON as it was answered; empty until then.
    answer = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="kept_bundle_age")]

    def __str__(self) -> str:
        return self.key


class Deployment(models.Model):
    """The one row that says which deployment the database is of (companies.deployments)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    uuid = models.UUIDField(default=uuid4)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="one_deployment")]

    def __str__(self) -> str:
        return str(self.uuid)


class FailedRow(models.Model):
    """A row that a task fails on, and goes on without (companies.failing_rows)."""

    task = models.CharField(max_length=50)
    # What it is, such as a ticket, and which.
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=100)
    error = models.CharField(max_length=300)
    first_at = models.DateTimeField("first failed", auto_now_add=True)
    last_at = models.DateTimeField("last failed", auto_now_add=True)
    times = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "kind", "key"], name="one_entry_per_failed_row")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
