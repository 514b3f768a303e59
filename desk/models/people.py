"""Models of users: preferences, invitations, sessions and sign-on."""

from django.conf import settings
from django.db import models

from core.values.languages import LONGEST_CODE, language_choices
from tickets.local_time import check_zone


class Preferences(models.Model):
    """Language and time zone of a user; empty means the deployment's (decisions N20, N21)."""

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
    """Invitation to set a password; the token in the email includes `sent_at`."""

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
    """Record of a session besides Django's: where it began and was last seen.

    It grants nothing; Django's table decides whether the session is alive.
    """

    # Digest of the session key (desk.common.session_store).
    digest = models.CharField(max_length=32, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # Name from the user agent; empty if not recognized.
    browser = models.CharField(max_length=30)
    system = models.CharField(max_length=30)
    # IPv6 addresses are stored as their network, as for failed sign-ins.
    address = models.GenericIPAddressField(null=True)
    began_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.browser} {self.system}".strip()


class SignOn(models.Model):
    """Binding of a user to a subject of an OpenID Connect provider, made at the first sign-in."""

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
    """Password reset request, or an email sent for one, counted towards the limits."""

    # Digest of the counted key, since a typed name may be anybody's email address.
    name = models.CharField(max_length=32)
    address = models.GenericIPAddressField(null=True)
    asked_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.asked_at:%Y-%m-%d %H:%M}"
