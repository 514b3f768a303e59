"""Signing in to the desk: the form, whose address counts, and what a locked-out person reads."""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
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

from companies.times import whole_seconds
from desk.people import hashing
from desk.people.known_devices import remember_device

LOCKED = gettext_noop(
    "Too many attempts. Signing in with this user name, or from this address, is blocked for"
    " %(minutes)d minutes."
)
ONLY_SUPERUSERS = gettext_noop(
    "This user name and password open nothing. Only superusers sign in with a password here."
)
SIGNED_IN = "signed_in_as"
# What a provider gives to one customer at least: single addresses of it cost nothing.
IPV6_PREFIX = 64


class LoginForm(AuthenticationForm):
    def get_invalid_login_error(self) -> ValidationError:
        if getattr(self.request, "axes_locked_out", False):
            minutes = settings.AXES_COOLOFF_TIME.seconds // 60
            return ValidationError(gettext(LOCKED) % {"minutes": minutes}, code="locked")
        if settings.OIDC_ONLY:
            return ValidationError(gettext(ONLY_SUPERUSERS), code="invalid_login")
        return super().get_invalid_login_error()


def may_use_password(user: User) -> bool:
    """Whether this user signs in to the desk with a password of their own: who was only invited,
    or comes another way, has none."""
    refused = settings.OIDC_ONLY and not user.is_superuser
    return user.is_active and user.is_staff and user.has_usable_password() and not refused


def locked_out(request: HttpRequest, answer: HttpResponse, *_: Any) -> HttpResponse:
    """The login page as it is, which says so; only the status is another."""
    answer.status_code = 429
    answer["Retry-After"] = str(whole_seconds(settings.AXES_COOLOFF_TIME))
    return answer


@receiver(user_logged_in)
def note_device(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    setattr(request, SIGNED_IN, user.get_username())


class SigningIn:
    """Remembers the device of whoever signs in; tells who tries while too many do to come back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if username := getattr(request, SIGNED_IN, ""):
            remember_device(request, response, username)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, hashing.TooManySignIns):
            return None
        response = render(request, "503.html", status=503)
        response["Retry-After"] = str(whole_seconds(hashing.RETRY_AFTER_SECONDS))
        return response


def client_address(request: HttpRequest) -> str | None:
    """Who asks: the peer, or what the nearest PROXY_COUNT proxies say of it. Of IPv6, the network.

    Proxies append to X-Forwarded-For, so only the last so many entries are theirs; what stands
    before them anybody can write.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    count = settings.PROXY_COUNT
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    forwarded = hops[-count].strip() if 0 < count <= len(hops) else peer
    for one in (forwarded, peer):
        try:
            return countable(one)
        except ValueError:
            continue
    return None


def countable(text: str) -> str:
    """What stands for an address where failures are counted. Raises ValueError."""
    address = ip_address(text)
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address), IPV6_PREFIX), strict=False).network_address)
