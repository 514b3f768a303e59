"""What the login page offers beside the password, or instead."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.urls import reverse

register = template.Library()
# Superusers sign in at /admin/login/?password where passwords are hidden.
ASKED = "password"


@register.simple_tag(takes_context=True)
def sign_on(context: template.Context) -> dict[str, Any]:
    request = context["request"]
    url, asked = reverse("desk_sign_on"), request.GET.get(REDIRECT_FIELD_NAME, "")
    shown = request.method == "POST" or ASKED in request.GET
    return {
        "offered": bool(settings.OIDC_ISSUER),
        "name": settings.OIDC_NAME,
        "href": f"{url}?{urlencode({REDIRECT_FIELD_NAME: asked})}" if asked else url,
        "hides_password": settings.OIDC_ONLY and not shown,
    }
