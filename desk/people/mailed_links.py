"""Links that set a password, as they are mailed."""

from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode


class LinkOver(ValueError):
    """The link was used or ended meanwhile; the message says how."""


def link_for(user: User, page: str, tokens: PasswordResetTokenGenerator, *, desk: str) -> str:
    """The whole address of a page for this user; `desk` is where the desk is."""
    place = urlsafe_base64_encode(force_bytes(user.pk))
    return desk.rstrip("/") + reverse(page, args=[place, tokens.make_token(user)])
