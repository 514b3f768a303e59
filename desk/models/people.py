"""The people at the desk: what they prefer, how they join, and where they are signed in."""

from django.conf import settings
from django.db import models

from core.values.languages import LONGEST_CODE, language_choices
from tickets.local_time import check_zone


class Preferences(models.Model):
    """How somebody reads the desk. Empty: as the deployment has it (decisions N20, N21)."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="preferences",
    )
    language = models.CharField(max_length=LONGEST_CODE, choices=language_choices, blank=True)
    time_zone = models.CharField(max_length=50, blank=True, validators=[check_zone])

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.language} {self.time_zone}".strip()


class Invitation(models.Model):
    """That somebody was asked to set a password; the link in the email names this row's time."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="invitation",
    )
    invited_by = models.CharField(max_length=150, blank=True)
    sent_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.user.get_username()


class SeenSession(models.Model):
    """What is known of a session beside what Django keeps: where it began and was seen last.

    It opens and closes nothing; whether the session lives is written in Django's table.
    """

    # Of the key in the cookie, by desk.common.sessions.
    digest = models.CharField(max_length=32, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # As the browser calls itself, empty where that is not understood.
    browser = models.CharField(max_length=30)
    system = models.CharField(max_length=30)
    # Of IPv6 the network, as where failed sign-ins are counted.
    address = models.GenericIPAddressField(null=True)
    began_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.browser} {self.system}".strip()


class SignOn(models.Model):
    """Whom a provider of OpenID Connect means by a subject; bound at the first sign-in."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="sign_on",
    )
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    bound_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="sign_on_subject")
        ]

    def __str__(self) -> str:
        return self.subject


class ResetRequest(models.Model):
    """A request for a new password, or a letter that came of one, as its bounds count it."""

    # A digest of what is counted: the name was typed, and may be the address of anybody.
    name = models.CharField(max_length=32)
    address = models.GenericIPAddressField(null=True)
    asked_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.asked_at:%Y-%m-%d %H:%M}"
