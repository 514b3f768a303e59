"""Single sign-on on the login page, next to the password or in its place."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.urls import reverse

register = template.Library()
# Superusers sign in at /admin/login/?password where passwords are hidden.
FORM_PARAMETER = "password"


@register.simple_tag(takes_context=True)
def sign_on(context: template.Context) -> dict[str, Any]:
    request = context["request"]
    url = reverse("desk_sign_on")
    target = request.GET.get(REDIRECT_FIELD_NAME, "")
    wants_password = request.method == "POST" or FORM_PARAMETER in request.GET
    return {
        "offered": bool(settings.OIDC_ISSUER),
        "name": settings.OIDC_NAME,
        "href": f"{url}?{urlencode({REDIRECT_FIELD_NAME: target})}" if target else url,
        "hides_password": settings.OIDC_ONLY and not wants_password,
    }
