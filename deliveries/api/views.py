from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework.response import Response

from companies.api.bodies import WrongField
from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, LimitReached, Unprocessable, idempotent
from deliveries import redelivery
from deliveries.api import schema
from deliveries.api.serializers import LogQuery, Window
from deliveries.models import Delivery
from deliveries.monitoring import log
from webhooks.models import Webhook


def webhook_of(request: CompanyRequest, webhook_id: int) -> Webhook:
    return get_object_or_404(request.company.webhooks.present(), pk=webhook_id)


def delivery_of(request: CompanyRequest, delivery_id: UUID) -> Delivery:
    try:
        return log.company_delivery(request.company, delivery_id)
    except Delivery.DoesNotExist as error:
        raise Http404 from error


@schema.webhook_deliveries
class WebhookDeliveries(CompanyView):
    def get(self, request: CompanyRequest, webhook_id: int) -> Response:
        webhook = webhook_of(request, webhook_id)
        query = LogQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        try:
            deliveries, cursor = log.log_page(webhook, **query.validated_data)
        except log.BadCursor as error:
            raise WrongField("cursor", str(error), code="invalid_cursor") from error
        return Response({"data": log.delivery_rows(deliveries), "next_cursor": cursor})


@schema.webhook_health
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
        window = Window.read(request)
        try:
            count = redelivery.recover(webhook.pk, **window)
        except redelivery.AskedTooOften as error:
            raise too_often(error) from error
        return Response({"data": {"redelivered": count}})


def too_often(error: redelivery.AskedTooOften) -> LimitReached:
    return LimitReached(str(error), code="redelivery_limit", wait=error.wait)
