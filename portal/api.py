"""Endpoint by which the platform opens the company's page: its body, its description, its view."""

from typing import Any

from django.conf import settings
from django.http import Http404
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, Unprocessable, idempotent
from core.api.bodies import Body, Integer, Text, Word
from core.api.schema import operation
from core.api.shapes import Time, shape
from core.data.encryption import SecretText
from portal import access
from tickets import rules
from tickets.api.request_context import base_of
from tickets.changes.public_values import format_utc
from tickets.models import Ticket

SCOPES = ("tickets", "webhooks")
LONGEST_URL = 2000
OFF = "The company's page is switched off here."


class OpenPortal(Body):
    scope: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=Word(choices=SCOPES),
        required=False,
        allow_empty=False,
        max_length=len(SCOPES),
        help_text="What the page opens. Default: both.",
    )
    ticket_id = Integer(required=False, help_text="The ticket at which the page begins.")
    language = Word(
        choices=[code for code, _ in settings.LANGUAGES],
        required=False,
        help_text="Default: the company's.",
    )
    return_url = Text(
        required=False,
        max_length=LONGEST_URL,
        help_text="Where the page leads back to, http or https.",
    )

    def validate_return_url(self, value: str) -> str:
        if not rules.is_web_address(value) or "@" in value.partition("//")[2].partition("/")[0]:
            raise serializers.ValidationError(str(rules.NO_URL.message), code=rules.NO_URL.code)
        return value


PortalUrl = shape("PortalUrl", url=serializers.URLField(), expires_at=Time())
PortalSessionCreated = shape("PortalSessionCreated", data=PortalUrl())


@extend_schema_view(
    post=operation(
        "openPortal",
        "Create an address that opens the company's page.",
        tag="Page",
        about="Send a person of your company to `url`, for instance from a button of your panel:"
        " it opens their tickets and webhooks for eight hours, without a password. It works once,"
        " and for five minutes.",
        body=OpenPortal,
        sends={
            "everything": {},
            "a ticket": {"scope": ["tickets"], "ticket_id": 204101, "language": "es"},
        },
        answer=PortalSessionCreated,
        shows={
            "data": {
                "url": "https://desk.example.com/c/s/2nF0cJ7wq1XkZb5tYv8LrP3dGhM6sAaE",
                "expires_at": "2026-01-02 10:05:00",
            }
        },
        errors={404: None, 422: {"page_off": OFF}},
        idempotent=True,
    )
)
class PortalSessions(CompanyView):
    @idempotent
    def post(self, request: CompanyRequest) -> Response:
        body = OpenPortal.read(request)
        if not settings.COMPANY_PAGE:
            raise Unprocessable(OFF, code="page_off")
        scope = body.pop("scope", SCOPES)
        parts = {part: part in scope for part in SCOPES}
        try:
            secret, expires_at = access.issue_session(
                request.company, request.token, **parts, **body
            )
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        url = SecretText(f"{settings.PUBLIC_URL or base_of(request)}/c/s/{secret}")
        return Response({"data": {"url": url, "expires_at": format_utc(expires_at)}})
