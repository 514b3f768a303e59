"""Backend that accepts only superusers' passwords if OIDC_ONLY is set."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class PasswordsOfSuperusers(ModelBackend):
    """Backend before Django's; with OIDC_ONLY it decides alone.

    A refused password takes as long as a wrong one and counts the same, so that nobody can find
    out which names are superusers'.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **more: Any,
    ) -> User | None:
        if not settings.OIDC_ONLY:
            return None
        user = super().authenticate(request, username=username, password=password, **more)
        if user is None or not user.is_superuser:
            raise PermissionDenied
        return user
