"""Middleware that blocks the desk until a required second factor is done."""

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
# Attribute of a request whose sign-in already included a second factor.
SECOND_FACTOR_GIVEN = "second_factor_given"


@receiver(user_logged_in)
def note_second_factor_due(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    """Store in the session whether a second factor is due, so that pages need no query."""
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
