"""Mailed links that set a password."""

from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode


class LinkOver(ValueError):
    """Link that was used or has expired; the message says which."""


def link_for(user: User, page: str, tokens: PasswordResetTokenGenerator, *, desk: str) -> str:
    """Return the absolute URL of a page for this user; `desk` is the desk's base URL."""
    place = urlsafe_base64_encode(force_bytes(user.pk))
    return desk.rstrip("/") + reverse(page, args=[place, tokens.make_token(user)])
