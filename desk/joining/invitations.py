"""Invitations: single-use links that set a password, valid for seven days."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext

from core.mailing import outbox
from desk.models import Invitation
from desk.people.language import look_up_reading
from desk.people.mailed_links import LinkOver, link_for
from tickets import agents

VALID_DAYS = timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT).days


class InvitationTokens(PasswordResetTokenGenerator):
    """Django's tokens, invalidated by sending the invitation again."""

    key_salt = "desk.joining.invitations"

    def _make_hash_value(self, user: User, timestamp: int) -> str:
        sent_at = Invitation.objects.filter(user=user.pk).values_list("sent_at", flat=True).first()
        return f"{super()._make_hash_value(user, timestamp)}{sent_at}"

    def check_token(self, user: User | None, token: str | None) -> bool:
        if user is None or not user.is_active:
            return False
        return waiting().filter(user=user.pk).exists() and super().check_token(user, token)


tokens = InvitationTokens()


def waiting() -> QuerySet[Invitation]:
    """Return invitations neither accepted nor revoked; they may have expired."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None)


def has_expired(invitation: Invitation) -> bool:
    """Tell whether the link has expired."""
    return timezone.now() >= invitation.sent_at + timedelta(days=VALID_DAYS)


@transaction.atomic
def invite(user: User, *, by: User | None, url: str) -> None:
    """Save an invitation and queue its email; earlier links become invalid."""
    Invitation.objects.update_or_create(
        user=user,
        defaults={
            "invited_by": by.get_username() if by else "",
            "sent_at": timezone.now(),
            "accepted_at": None,
            "revoked_at": None,
        },
    )
    with translation.override(look_up_reading(user).language):
        outbox.enqueue_mail(user.email, *letter(user, url), secret=True)


@transaction.atomic
def resend(user_id: int, *, by: User, url: str) -> User:
    """Send a new link, also for a revoked invitation. Raises LinkOver."""
    invitation = locked(user_id)
    invite(invitation.user, by=by, url=url)
    outbox.ring_mail_job()
    return invitation.user


@transaction.atomic
def revoke(user_id: int) -> User:
    """Invalidate the link. Raises LinkOver."""
    invitation = locked(user_id)
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    return invitation.user


def accept(user: User, password: str) -> None:
    """Set the password, and make an agent available. Raises LinkOver."""
    # Hashing is slow on purpose, so do it before locking the row.
    encoded = make_password(password)
    with transaction.atomic():
        invitation = locked(user.pk)
        if invitation.revoked_at is not None:
            raise LinkOver(gettext("This invitation was revoked."))
        invitation.accepted_at = timezone.now()
        invitation.save(update_fields=["accepted_at"])
        user.password = encoded
        user.save(update_fields=["password"])
        agents.make_available(user)


def locked(user_id: int) -> Invitation:
    """Lock and return an invitation that is not accepted. Raises LinkOver."""
    rows = Invitation.objects.select_for_update(no_key=True, of=("self",)).select_related("user")
    invitation = rows.filter(pk=user_id).first()
    if invitation is None:
        raise LinkOver(gettext("There is no such invitation."))
    if invitation.accepted_at is not None:
        raise LinkOver(gettext("This invitation was accepted."))
    return invitation


def letter(user: User, url: str) -> tuple[str, str]:
    """Return subject and text in the active language."""
    if settings.OIDC_ONLY:
        link = url.rstrip("/") + reverse("admin:index")
        text = gettext(
            "Hello %(name)s,\n\nyou can now work at the desk. You need no password of its own: sign"
            " in with the sign-on account that has this email address:\n\n%(link)s\n\nIf you did"
            " not expect this email, ignore it.\n"
        )
    else:
        link = link_for(user, "desk_invitation", tokens, desk=url)
        text = gettext(
            "Hello %(name)s,\n\nyou can now work at the desk. Your user name is %(login)s. Set your"
            " password here within %(days)d days:\n\n%(link)s\n\nIf the link no longer works, ask a"
            " lead to send you a new one. If you did not expect this email, ignore it.\n"
        )
    words = {
        "name": user.first_name or user.get_username(),
        "login": user.get_username(),
        "days": VALID_DAYS,
        "link": link,
    }
    return gettext("Your invitation to the desk"), text % words
