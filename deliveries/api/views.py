from dataclasses import asdict
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, LimitReached, Refusal, Unprocessable, idempotent
from core.api.bodies import WrongField
from deliveries import redelivery
from deliveries.api import health_schema, on_demand_schema, schema
from deliveries.api.serializers import LogQuery, StreamQuery, Window
from deliveries.models import Delivery
from deliveries.monitoring import log
from deliveries.on_demand import signed_test, stream
from deliveries.on_demand.sample_delivery import TooManyTestSends
from webhooks.models import Webhook
from webhooks.targets import BadTarget


class Expired(Refusal):
    """The requested data existed and is no longer stored."""

    status_code = 410


def webhook_of(request: CompanyRequest, webhook_id: int) -> Webhook:
    return get_object_or_404(request.company.webhooks.present(), pk=webhook_id)


def delivery_of(request: CompanyRequest, delivery_id: UUID) -> Delivery:
    try:
        return log.company_delivery(request.company, delivery_id)
    except Delivery.DoesNotExist as error:
        raise Http404 from error


@schema.webhook_deliveries
class WebhookDeliveries(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = webhook_of(request, webhook_id)
        query = LogQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        try:
            deliveries, cursor = log.log_page(webhook, **query.validated_data)
        except log.BadCursor as error:
            raise WrongField("cursor", str(error), code="invalid_cursor") from error
        return Response({"data": log.delivery_rows(deliveries), "next_cursor": cursor})


@on_demand_schema.webhook_events
class WebhookEvents(CompanyView):
    # Signed anew at every fetch.
    conditional = False

    def get(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = webhook_of(request, webhook_id)
        query = StreamQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        try:
            events, cursor = stream.read_events(webhook, **query.validated_data)
        except stream.UnknownCursor as error:
            raise WrongField("after", str(error), code="invalid_cursor") from error
        except stream.ExpiredCursor as error:
            raise Expired(str(error), code="cursor_expired") from error
        except stream.CannotSign as error:
            raise Unprocessable(str(error), code="webhook_unreadable") from error
        return Response({"data": events, "next_cursor": cursor})


@on_demand_schema.webhook_trial
class WebhookTrial(CompanyView):
    """Ignores Idempotency-Key: a caller who repeats the request wants to send again."""

    rate = "send"

    def post(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = webhook_of(request, webhook_id)
        try:
            verdict = signed_test.try_webhook(webhook)
        except signed_test.CannotTest as error:
            raise Unprocessable(str(error), code=error.code) from error
        except BadTarget as error:
            raise Unprocessable(
                f"This webhook's URL is no longer allowed. {error}", code="target_not_allowed"
            ) from error
        except TooManyTestSends as error:
            raise LimitReached(str(error), wait=error.wait, code="test_send_limit") from error
        return Response({"meta": "webhook_tested", "data": asdict(verdict)})


@health_schema.webhook_health
class WebhookHealth(CompanyView):
    def get(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = webhook_of(request, webhook_id)
        return Response({"data": log.health(webhook, timezone.now())})


@schema.one_delivery
class OneDelivery(CompanyView):
    def get(self, request: CompanyRequest, delivery_id: UUID) -> Response:
        return Response({"data": log.delivery_detail(delivery_of(request, delivery_id))})


@schema.redeliver
class Redeliver(CompanyView):
    @idempotent
    def post(self, request: CompanyRequest, delivery_id: UUID) -> Response:
        delivery = delivery_of(request, delivery_id)
        if delivery.webhook.deleted_at is not None:
            raise Unprocessable("The webhook of this delivery is deleted.", code="webhook_deleted")
        try:
            redelivery.ask_again(delivery.pk)
        except redelivery.AskedTooOften as error:
            raise too_often(error) from error
        return Response({"data": True})


@schema.recover
class Recover(CompanyView):
    @idempotent
    def post(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = webhook_of(request, webhook_id)
        if webhook.fetched:
            raise Unprocessable(
                f"This webhook has no URL, so nothing is sent: GET /webhooks/{webhook_id}/events"
                " has its events.",
                code="webhook_without_url",
            )
        window = Window.read(request)
        try:
            count = redelivery.recover(webhook.pk, **window)
        except redelivery.AskedTooOften as error:
            raise too_often(error) from error
        return Response({"data": {"redelivered": count}})


def too_often(error: redelivery.AskedTooOften) -> LimitReached:
    return LimitReached(str(error), code="redelivery_limit", wait=error.wait)
