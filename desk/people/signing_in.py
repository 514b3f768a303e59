"""Signing in to the desk: the form, whose address counts, and what a locked-out person reads."""

from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from unfold.forms import AuthenticationForm

LOCKED = (
    "Too many attempts. Signing in with this user name from this address is blocked for "
    f"{settings.AXES_COOLOFF_TIME.seconds // 60} minutes."
)


class LoginForm(AuthenticationForm):
    def get_invalid_login_error(self) -> ValidationError:
        if getattr(self.request, "axes_locked_out", False):
            return ValidationError(LOCKED, code="locked")
        return super().get_invalid_login_error()


def locked_out(request: HttpRequest, answer: HttpResponse, *_: Any) -> HttpResponse:
    """The login page as it is, which says so; only the status is another."""
    answer.status_code = 429
    return answer


def client_address(request: HttpRequest) -> str | None:
    """Who asks: the peer, or what the nearest PROXY_COUNT proxies say of it.

    Proxies append to X-Forwarded-For, so only the last so many entries are theirs; what stands
    before them anybody can write.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    count = settings.PROXY_COUNT
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    forwarded = hops[-count].strip() if 0 < count <= len(hops) else peer
    for one in (forwarded, peer):
        try:
            return str(ip_address(one))
        except ValueError:
            continue
    return None
