from base64 import b64encode
from datetime import timedelta
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, Conflict, Unprocessable, idempotent
from core.api.bodies import WrongField
from core.data.encryption import SecretText, UnreadableSecret
from webhooks import services
from webhooks.api import schema
from webhooks.api.serializers import (
    ChangeWebhook,
    ListWebhooks,
    RegisterWebhook,
    RotateSecret,
)
from webhooks.event_types import registry
from webhooks.models import Webhook
from webhooks.targets import BadTarget

# What the services refuse in a body, each at one of its fields.
REFUSED = (services.UnknownType, services.NotSigned, services.OtherKind, BadTarget)
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def webhook_payload(webhook: Webhook) -> dict[str, Any]:
    """A webhook as its company sees it (decision W5), without secrets."""
    rotates = webhook.next_secret_at
    return {
        "id": webhook.pk,
        "type": webhook.type_name,
        "type_id": webhook.type_id,
        "url": webhook.url or None,
        "auth_token": masked_token(webhook),
        "active": int(webhook.active),
        "max_in_flight": webhook.max_in_flight,
        "standard_headers": int(webhook.standard_headers),
        "paused_reason": webhook.paused_reason or None,
        "secret_activates_at": rotates.strftime(TIME_FORMAT) if rotates else None,
        "created_at": webhook.created_at.strftime(TIME_FORMAT),
        "updated_at": webhook.updated_at.strftime(TIME_FORMAT),
    }


def masked_token(webhook: Webhook) -> str | None:
    """Its last four characters; none of them where no key opens it any more."""
    try:
        token = webhook.auth_token
    except UnreadableSecret:
        return "…"
    return f"…{token[-4:]}" if token else None


def url_in_use(error: services.AlreadyRegistered) -> Conflict:
    return Conflict(str(error), code="webhook_exists", webhook_id=error.webhook_id)


def shown_secret(secret: str | None) -> dict[str, str]:
    """A secret where it is shown: as our headers are signed with it, and for Standard Webhooks."""
    if not secret:
        return {}
    return {"secret": secret, "standard_secret": standard_secret(secret)}


def standard_secret(secret: str) -> SecretText:
    """The same key as libraries for Standard Webhooks take it."""
    return SecretText(f"whsec_{b64encode(secret.encode()).decode()}")


def refused_field(error: ValueError) -> WrongField:
    """A 400 for what a service refused, at the field that it refused."""
    if isinstance(error, services.UnknownType):
        return WrongField("type_id", str(error), code="invalid_choice")
    if isinstance(error, services.NotSigned):
        return WrongField("standard_headers", str(error), code="webhook_not_signed")
    if isinstance(error, services.OtherKind):
        return WrongField("url", str(error), code="not_changeable")
    return WrongField("url", str(error), code="target_not_allowed")


@schema.webhook_types
class WebhookTypes(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest) -> Response:
        return Response(
            [
                {"id": each.id, "name": each.name, "description": each.description}
                for each in registry
            ]
        )


@schema.webhooks
class Webhooks(CompanyView):
    def get(self, request: CompanyRequest) -> Response:
        query = ListWebhooks(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        cursor, limit = query.validated_data.get("cursor", 0), query.validated_data["limit"]
        webhooks = request.company.webhooks.present().filter(pk__gt=cursor).order_by("pk")
        if not query.validated_data["without_url"]:
            # Clients of the live platform take `url` for a text, and fail at a null.
            webhooks = webhooks.exclude(url="")
        page = list(webhooks[: limit + 1])
        more = str(page[limit - 1].pk) if len(page) > limit else None
        data = [webhook_payload(webhook) for webhook in page[:limit]]
        return Response({"data": data, "next_cursor": more})

    @idempotent
    def post(self, request: CompanyRequest) -> Response:
        try:
            webhook = services.register_webhook(request.company, **RegisterWebhook.read(request))
        except REFUSED as error:
            raise refused_field(error) from error
        except services.AlreadyRegistered as error:
            raise url_in_use(error) from error
        except services.TooManyWebhooks as error:
            raise Unprocessable(str(error), code="webhook_limit") from error
        data = {
            "id": webhook.pk,
            "type": webhook.type_name,
            "url": webhook.url or None,
            "active": int(webhook.active),
            **shown_secret(webhook.secret),
        }
        return Response({"meta": "webhook_created", "data": data})


@schema.one_webhook
class OneWebhook(CompanyView):
    def get(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = get_object_or_404(request.company.webhooks.present(), pk=webhook_id)
        return Response({"data": webhook_payload(webhook)})

    def put(self, request: CompanyRequest, webhook_id: int) -> Response:
        # Before the body is checked, so that a missing webhook and another company's look alike.
        get_object_or_404(request.company.webhooks.present(), pk=webhook_id)
        try:
            services.change_webhook(request.company, webhook_id, **ChangeWebhook.read(request))
        except services.UnknownWebhook as error:
            raise Http404 from error
        except REFUSED as error:
            raise refused_field(error) from error
        except services.AlreadyRegistered as error:
            raise url_in_use(error) from error
        return Response({"data": True})

    def delete(self, request: CompanyRequest, webhook_id: int) -> Response:
        try:
            services.delete_webhook(request.company, webhook_id)
        except services.UnknownWebhook as error:
            raise Http404 from error
        return Response({"data": True})


@schema.webhook_secret
class WebhookSecret(CompanyView):
    @idempotent
    def post(self, request: CompanyRequest, webhook_id: int) -> Response:
        get_object_or_404(request.company.webhooks.present(), pk=webhook_id)
        activates_in = timedelta(seconds=RotateSecret.read(request)["activates_in"])
        try:
            webhook = services.rotate_secret(request.company, webhook_id, activates_in=activates_in)
        except services.UnknownWebhook as error:
            raise Http404 from error
        except services.NotSigned as error:
            raise Unprocessable(str(error), code="webhook_not_signed") from error
        data = {
            "id": webhook.pk,
            **shown_secret(webhook.next_secret),
            "activates_at": webhook.next_secret_at and webhook.next_secret_at.strftime(TIME_FORMAT),
        }
        return Response({"meta": "secret_rotated", "data": data})
