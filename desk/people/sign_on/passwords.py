"""With OIDC_ONLY, passwords open the desk to superusers alone."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class PasswordsOfSuperusers(ModelBackend):
    """Stands before Django's backend, and ends the search where OIDC_ONLY is set.

    A refused password costs what a wrong one costs and is counted alike, so nothing tells whose
    name is a superuser's.
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
