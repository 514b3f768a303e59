"""Mapping of the provider's claims to users of the desk, and the checks before they get in.

Users are identified by the provider's subject. A verified email address finds a user only once, at
the first sign-in; after that the subject alone counts.
Why: decision page desk-sign-on-is-bound-to-the-subject.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from companies import audit
from companies.models import AuditEntry
from desk.models import Invitation, SignOn
from tickets import agents, roles

ACT = "sign_on"
# Code of a refusal in the audit log, and the text for the refused user.
REASONS = {
    "unverified_email": gettext_noop(
        "Your sign-on account has no email address that is verified. Have it verified there, and"
        " sign in again."
    ),
    "unknown": gettext_noop(
        "No user of this desk has the email address of your sign-on account. Ask a lead or an"
        " operator to add you, or to correct your address."
    ),
    "ambiguous": gettext_noop(
        "Several users of this desk have your email address. Ask an operator to correct it."
    ),
    "bound_to_another": gettext_noop(
        "The user with your email address signs in with another sign-on account. If yours was"
        " made anew, ask an operator to forget the one before."
    ),
    "switched_off": gettext_noop("Your user is switched off. Ask a lead or an operator."),
    "superuser": gettext_noop("Superusers sign in with their password."),
    "no_role": gettext_noop(
        "None of your groups may work at this desk. Ask whoever keeps your sign-on account to add"
        " you to one."
    ),
    "bad_claims": gettext_noop(
        "The sign-on service says something of you that the desk cannot read. Tell an operator: the"
        " audit names the claim."
    ),
    "groups_left_out": gettext_noop(
        "You are in more groups than the sign-on service sends. Ask an operator to have it send"
        " only the groups of this desk."
    ),
    "cannot_be_made": gettext_noop(
        "You are new here, and no user can be made of what your sign-on account says. Ask an"
        " operator to add you by hand."
    ),
}
# Authentication methods that stand for a second factor (RFC 8176).
SECOND_FACTORS = {"mfa", "otp", "hwk", "swk", "fpt", "face", "sc"}
TRUE = (True, 1, "true", "1")


class SignOnRefused(Exception):
    """Refused sign-in.

    `reason` is a key of REASONS, `user` the user if one was found, `claim` the claim at fault.
    """

    def __init__(self, reason: str, user: User | None = None, *, claim: str = "") -> None:
        super().__init__(reason)
        self.reason, self.user, self.claim = reason, user, claim


class Identity(NamedTuple):
    """Claims that the desk uses."""

    subject: str
    # Empty unless verified.
    email: str
    names: tuple[str, str]
    # Groups of the desk by OIDC_ROLES; None if no claim of groups is configured.
    roles: frozenset[str] | None


def identity_in(claims: Mapping[str, Any]) -> Identity:
    """Read an identity from claims. Raises SignOnRefused if a claim has a wrong type."""
    email = claims.get("email")
    verified = claims.get(settings.OIDC_VERIFIED_CLAIM) in TRUE
    names = (claims.get("given_name"), claims.get("family_name"))
    for name, value in (("sub", claims["sub"]), ("email", email or "")):
        if "\x00" in str(value) or len(str(value)) > 255:
            raise SignOnRefused("bad_claims", claim=name)
    if not isinstance(claims["sub"], str) or not claims["sub"]:
        raise SignOnRefused("bad_claims", claim="sub")
    return Identity(
        claims["sub"],
        email if verified and isinstance(email, str) else "",
        tuple(name.replace("\x00", "")[:150] if isinstance(name, str) else "" for name in names),  # type: ignore[arg-type]
        roles_in(claims) if settings.OIDC_GROUPS_CLAIM else None,
    )


def roles_in(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the roles for the groups in the claims. Raises SignOnRefused."""
    name = settings.OIDC_GROUPS_CLAIM
    groups = claims.get(name)
    elsewhere = claims.get("_claim_names")
    # A provider that omits a list that is too long says where to fetch it (OpenID Connect
    # Core 5.6.2). Treating that as "no groups" would take away everybody's roles.
    if groups is None and isinstance(elsewhere, Mapping) and name in elsewhere:
        raise SignOnRefused("groups_left_out", claim=name)
    if not isinstance(groups, str | list | None):
        raise SignOnRefused("bad_claims", claim=name)
    listed = [groups] if isinstance(groups, str) else groups or []
    group_names = {one for one in listed if isinstance(one, str)}
    if listed and not group_names:
        raise SignOnRefused("bad_claims", claim=name)
    return frozenset(role for value, role in settings.OIDC_ROLES if value in group_names)


def has_second_factor(claims: Mapping[str, Any]) -> bool:
    """Tell whether the provider already verified a second factor, so that the desk need not."""
    if settings.OIDC_SECOND_FACTOR == "amr":
        methods = claims.get("amr")
        return isinstance(methods, list) and bool(SECOND_FACTORS & {str(one) for one in methods})
    return bool(settings.OIDC_SECOND_FACTOR == "provider")


def admit(claims: Mapping[str, Any]) -> User:
    """Return the user of the claims, bound to their subject and with the groups in the claims.

    Success and refusal are written to the audit log. Raises SignOnRefused.
    """
    try:
        with transaction.atomic():
            return bind_user(identity_in(claims))
    except SignOnRefused as refused:
        name = refused.user.get_username() if refused.user else ""
        entry = audit.begin_entry(
            ACT,
            actor=name or "somebody not known",
            via=AuditEntry.Via.DESK,
            about=f"user {name}" if name else "",
        )
        claim = f" ({refused.claim})" if refused.claim else ""
        audit.end_entry(entry, f"refused: {refused.reason}{claim}")
        raise


def bind_user(identity: Identity) -> User:
    bound = SignOn.objects.filter(issuer=settings.OIDC_ISSUER, subject=identity.subject)
    bound_id = bound.values_list("user", flat=True).first()
    is_new = False
    if bound_id is not None:
        user = User.objects.select_for_update(no_key=True).get(pk=bound_id)
    else:
        existing = user_by_email(identity.email)
        is_new, user = existing is None, existing or make_user(identity)
    refuse_unfit(user, identity)
    if bound_id is None:
        SignOn.objects.create(user=user, issuer=settings.OIDC_ISSUER, subject=identity.subject)
    bound.update(last_at=timezone.now())
    accept_invitation(user)
    details: dict[str, Any] = {"made": is_new, "bound": bound_id is None}
    if identity.roles is not None and (changed := set_roles(user, identity.roles)):
        details["groups"] = changed
    name = user.get_username()
    audit.record_act(
        ACT, actor=name, via=AuditEntry.Via.DESK, about=f"user {name}", details=details
    )
    return user


def user_by_email(email: str) -> User | None:
    """Lock and return the unbound user with this address. Raises SignOnRefused."""
    if not email:
        raise SignOnRefused("unverified_email")
    # Databases treat some letters of different addresses as equal, such as a dotless i.
    match = {"email__iexact" if email.isascii() else "email": email}
    rows = User.objects.select_for_update(no_key=True).filter(**match).order_by("pk")
    users = [user for user in rows if user.email.isascii() == email.isascii()]
    if len(users) > 1:
        raise SignOnRefused("ambiguous")
    if not users:
        return None
    if SignOn.objects.filter(user=users[0]).exists():
        raise SignOnRefused("bound_to_another", users[0])
    return users[0]


def refuse_unfit(user: User, identity: Identity) -> None:
    """Check that the user may sign in this way. Raises SignOnRefused."""
    revoked = Invitation.objects.filter(user=user, accepted_at=None, revoked_at__isnull=False)
    if not user.is_active or not user.is_staff or revoked.exists():
        raise SignOnRefused("switched_off", user)
    if user.is_superuser:
        raise SignOnRefused("superuser", user)
    if identity.roles is not None and not identity.roles:
        raise SignOnRefused("no_role", user)


def make_user(identity: Identity) -> User:
    """Create a user whom only the provider knows. Raises SignOnRefused."""
    if not settings.OIDC_CREATE_USERS:
        raise SignOnRefused("unknown")
    if not identity.roles:
        raise SignOnRefused("no_role")
    name, role_names = identity.email.lower(), identity.roles
    if User.objects.filter(username__iexact=name).exists():
        raise SignOnRefused("cannot_be_made")
    try:
        if role_names & {"agent", "lead"}:
            agent = agents.create_agent(
                name, None, email=name, names=identity.names, lead="lead" in role_names
            )
            agents.make_available(agent.user)
            return agent.user
        first, last = identity.names
        user = User(username=name, email=name, first_name=first, last_name=last, is_staff=True)
        user.set_unusable_password()
        user.full_clean()
    except (agents.BadAgent, ValidationError) as error:
        raise SignOnRefused("cannot_be_made") from error
    user.save()
    return user


def set_roles(user: User, wanted: frozenset[str]) -> list[str]:
    """Set the user's groups among ours, leaving others; returns e.g. ["+lead", "-agent"]."""
    current = set(user.groups.filter(name__in=roles.GROUPS).values_list("name", flat=True))
    user.groups.add(*(roles.group(name) for name in wanted - current))
    user.groups.remove(*(roles.group(name) for name in current - wanted))
    return sorted(
        [f"+{name}" for name in wanted - current] + [f"-{name}" for name in current - wanted]
    )


def accept_invitation(user: User) -> None:
    """Accept a pending invitation, which ends its link."""
    waiting = Invitation.objects.filter(user=user, accepted_at=None, revoked_at=None)
    if waiting.update(accepted_at=timezone.now()):
        agents.make_available(user)


def forget_sign_on(user: User, *, dry_run: bool = False) -> bool:
    """Unbind a user, to be bound again by email address; returns False if they were not bound."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        bound = SignOn.objects.filter(user=user)
        return bound.exists() if dry_run else bound.delete()[0] > 0
