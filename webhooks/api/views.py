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

# Errors that the services raise for one field of a body; refused_field maps them.
FIELD_ERRORS = (services.UnknownType, services.NotSigned, services.OtherKind, BadTarget)
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def webhook_payload(webhook: Webhook) -> dict[str, Any]:
    """Serialize a webhook for its company, without secrets (decision W5)."""
    rotates_at = webhook.next_secret_at
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
        "secret_activates_at": rotates_at.strftime(TIME_FORMAT) if rotates_at else None,
        "created_at": webhook.created_at.strftime(TIME_FORMAT),
        "updated_at": webhook.updated_at.strftime(TIME_FORMAT),
    }


def masked_token(webhook: Webhook) -> str | None:
    """Return "…" and the token's last four characters; "…" alone if no key decrypts it."""
    try:
        token = webhook.auth_token
    except UnreadableSecret:
        return "…"
    return f"…{token[-4:]}" if token else None


def url_in_use(error: services.AlreadyRegistered) -> Conflict:
    return Conflict(str(error), code="webhook_exists", webhook_id=error.webhook_id)


def secret_fields(secret: str | None) -> dict[str, str]:
    """Return both forms of a secret for a response: our own, and that of Standard Webhooks."""
    if not secret:
        return {}
    return {"secret": secret, "standard_secret": standard_secret(secret)}


def standard_secret(secret: str) -> SecretText:
    """Encode the same key for Standard Webhooks libraries: "whsec_" and base64."""
    return SecretText(f"whsec_{b64encode(secret.encode()).decode()}")


def field_error(error: ValueError) -> WrongField:
    """Convert one of FIELD_ERRORS into a 400 that names the field."""
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
        cursor = query.validated_data.get("cursor", 0)
        limit = query.validated_data["limit"]
        webhooks = request.company.webhooks.present().filter(pk__gt=cursor).order_by("pk")
        if not query.validated_data["without_url"]:
            # Clients of the live platform expect `url` to be a string and fail on null.
            webhooks = webhooks.exclude(url="")
        page = list(webhooks[: limit + 1])
        next_cursor = str(page[limit - 1].pk) if len(page) > limit else None
        data = [webhook_payload(webhook) for webhook in page[:limit]]
        return Response({"data": data, "next_cursor": next_cursor})

    @idempotent
    def post(self, request: CompanyRequest) -> Response:
        try:
            webhook = services.register_webhook(request.company, **RegisterWebhook.read(request))
        except FIELD_ERRORS as error:
            raise field_error(error) from error
        except services.AlreadyRegistered as error:
            raise url_in_use(error) from error
        except services.TooManyWebhooks as error:
            raise Unprocessable(str(error), code="webhook_limit") from error
        data = {
            "id": webhook.pk,
            "type": webhook.type_name,
            "url": webhook.url or None,
            "active": int(webhook.active),
            **secret_fields(webhook.secret),
        }
        return Response({"meta": "webhook_created", "data": data})


@schema.one_webhook
class OneWebhook(CompanyView):
    def get(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = get_object_or_404(request.company.webhooks.present(), pk=webhook_id)
        return Response({"data": webhook_payload(webhook)})

    def put(self, request: CompanyRequest, webhook_id: int) -> Response:
        # Look the webhook up before validating the body: otherwise a bad body would answer 400
        # also for a webhook that is missing or another company's.
        get_object_or_404(request.company.webhooks.present(), pk=webhook_id)
        try:
            services.change_webhook(request.company, webhook_id, **ChangeWebhook.read(request))
        except services.UnknownWebhook as error:
            raise Http404 from error
        except FIELD_ERRORS as error:
            raise field_error(error) from error
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
            **secret_fields(webhook.next_secret),
            "activates_at": webhook.next_secret_at and webhook.next_secret_at.strftime(TIME_FORMAT),
        }
        return Response({"meta": "secret_rotated", "data": data})
