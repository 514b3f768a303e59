"""Nobody gets past the login who still owes a second factor."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from desk.people import second_factor

OWES = "second_factor"
A_CODE, A_DEVICE = "code", "device"
# On a request, where whoever let the user in has asked for one.
SECOND_FACTOR_GIVEN = "second_factor_given"


@receiver(user_logged_in)
def note_second_factor_due(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Asked once, at the login, so that no page has to ask again."""
    request.session.pop(OWES, None)
    if getattr(request, SECOND_FACTOR_GIVEN, False):
        return
    if second_factor.is_on(user):
        request.session[OWES] = A_CODE
    elif settings.REQUIRE_TOTP and user.is_staff:
        request.session[OWES] = A_DEVICE


class SecondFactor:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith("/admin/") and (owed := request.session.get(OWES)):
            page = reverse(f"second_factor_{owed}")
            if request.path not in (page, reverse("admin:logout"), reverse("admin:jsi18n")):
                return redirect(page)
        return self.get_response(request)
