"""Signing in to the desk: the form, its limits, and the response to a lockout."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_noop
from unfold.forms import AuthenticationForm

from core.api.addresses import request_network
from core.values.times import whole_seconds
from desk.people import hashing
from desk.people.known_devices import known_device, remember_device
from desk.people.sign_in_limits import count_refused

LOCKED = gettext_noop(
    "Too many attempts. Signing in with this user name, or from this address, is blocked for"
    " %(minutes)d minutes."
)
ONLY_SUPERUSERS = gettext_noop(
    "This user name and password open nothing. Only superusers sign in with a password here."
)
SIGNED_IN = "signed_in_as"


class LoginForm(AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        """Check name and password; known devices have a reserved place. Raises TooManySignIns."""
        with hashing.on_behalf_of(self.is_known_device):
            cleaned: dict[str, Any] = super().clean()
        return cleaned

    def is_known_device(self) -> bool:
        username = self.cleaned_data.get("username") or ""
        return self.request is not None and known_device(self.request, username) is not None

    def get_invalid_login_error(self) -> ValidationError:
        if getattr(self.request, "axes_locked_out", False):
            minutes = settings.AXES_COOLOFF_TIME.seconds // 60
            return ValidationError(gettext(LOCKED) % {"minutes": minutes}, code="locked")
        if settings.OIDC_ONLY:
            return ValidationError(gettext(ONLY_SUPERUSERS), code="invalid_login")
        return super().get_invalid_login_error()


def may_use_password(user: User) -> bool:
    """Tell whether this user signs in to the desk with a password.

    Users who have not accepted their invitation, or who use single sign-on, have none.
    """
    is_refused = settings.OIDC_ONLY and not user.is_superuser
    return user.is_active and user.is_staff and user.has_usable_password() and not is_refused


def locked_out(request: HttpRequest, answer: HttpResponse, *_: Any) -> HttpResponse:
    """Return the login page, which shows the message of the lockout, with status 429."""
    answer.status_code = 429
    answer["Retry-After"] = str(whole_seconds(settings.AXES_COOLOFF_TIME))
    return answer


@receiver(user_logged_in)
def mark_signed_in(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    setattr(request, SIGNED_IN, user.get_username())


class SigningIn:
    """Middleware that remembers devices of sign-ins, and answers 503 if too many try at a time."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with hashing.on_behalf_of(lambda: request.user.is_authenticated):
            response = self.get_response(request)
        if username := getattr(request, SIGNED_IN, ""):
            remember_device(request, response, username)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, hashing.TooManySignIns):
            return None
        count_refused(request, request.POST.get("username", ""))
        response = render(request, "503.html", status=503)
        response["Retry-After"] = str(whole_seconds(hashing.RETRY_AFTER_SECONDS))
        return response


def client_address(request: HttpRequest) -> str | None:
    """Return the client's address as limits count it; for IPv6 its network."""
    return request_network(request)
