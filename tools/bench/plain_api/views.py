"""Plain views of REST framework: a token looked up by its digest, serializers, rows.

They read the rows that the service's own views read, with as few queries.
"""

import hashlib
from typing import Any

from django.db.models import QuerySet
from rest_framework import generics, serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.pagination import PageNumberPagination
from rest_framework.parsers import JSONParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from companies.models import ApiToken, Company
from shipments.models import Shipment
from tickets.models import Comment, Document, HistoryEntry, RequestedDocument, Ticket, TicketFile
from tools.bench.plain_api.models import PlainTicket
from webhooks.models import Webhook


class ByDigest(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Company, ApiToken]:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        digest = hashlib.sha256(token.encode()).hexdigest()
        try:
            row = ApiToken.objects.select_related("company").get(digest=digest, revoked_at=None)
        except ApiToken.DoesNotExist as error:
            raise AuthenticationFailed from error
        return row.company, row


class Plain(generics.GenericAPIView[Any]):
    authentication_classes = [ByDigest]
    permission_classes = [IsAuthenticated]
    throttle_classes = []
    parser_classes = [JSONParser]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = DefaultContentNegotiation


class NewTicket(serializers.ModelSerializer[PlainTicket]):
    class Meta:
        model = PlainTicket
        fields = ["id", "type_id", "comments", "data", "shipment_id"]


class DocumentFields(serializers.ModelSerializer[Document]):
    class Meta:
        model = Document
        fields = ["field_id", "key", "type", "value"]


class FileFields(serializers.ModelSerializer[TicketFile]):
    class Meta:
        model = TicketFile
        fields = ["id", "name", "media_type", "size", "description", "created_at"]


class RequestedFields(serializers.ModelSerializer[RequestedDocument]):
    class Meta:
        model = RequestedDocument
        fields = ["id", "name", "fulfilled_at"]


class CommentFields(serializers.ModelSerializer[Comment]):
    class Meta:
        model = Comment
        fields = ["id", "by", "text", "status", "created_at"]


class HistoryFields(serializers.ModelSerializer[HistoryEntry]):
    class Meta:
        model = HistoryEntry
        fields = ["was", "now", "by", "created_at"]


class ListedTicket(serializers.ModelSerializer[Ticket]):
    type_name = serializers.CharField(source="type.name")
    documents = DocumentFields(many=True)
    conversation = CommentFields(many=True)
    files = FileFields(many=True)
    requested_documents = RequestedFields(many=True)
    shipment = serializers.SerializerMethodField()
    rating = serializers.SerializerMethodField()

    class Meta:
        model = Ticket
        fields = [
            "id",
            "company_id",
            "type_id",
            "type_name",
            "status",
            "shipment_id",
            "carrier_id",
            "credit_id",
            "warehouse_package_id",
            "comments",
            "data",
            "created_at",
            "updated_at",
            "documents",
            "conversation",
            "files",
            "requested_documents",
            "shipment",
            "rating",
        ]

    def get_shipment(self, ticket: Ticket) -> dict[str, Any] | None:
        shipment = self.context["shipments"].get(ticket.shipment_id)
        return shipment and {
            "tracking_number": shipment.tracking_number,
            "carrier": shipment.carrier_name,
        }

    def get_rating(self, ticket: Ticket) -> int | None:
        return ticket.rating.rating if hasattr(ticket, "rating") else None


class TicketWithHistory(ListedTicket):
    history = HistoryFields(many=True)

    class Meta(ListedTicket.Meta):
        fields = [*ListedTicket.Meta.fields, "history"]


class OfCompany(Plain):
    related: tuple[str, ...] = ("documents", "conversation", "files", "requested_documents")

    def get_queryset(self) -> QuerySet[Ticket]:
        mine = Ticket.objects.filter(company=self.request.user.pk).select_related("type", "rating")
        return mine.prefetch_related(*self.related).order_by("-created_at", "-pk")

    def get_serializer(self, instance: Any, **options: Any) -> Any:
        tickets = instance if options.get("many") else [instance]
        mine = Shipment.objects.filter(company=self.request.user.pk)
        shipments = mine.in_bulk([one.shipment_id for one in tickets if one.shipment_id])
        context = {**self.get_serializer_context(), "shipments": shipments}
        return self.get_serializer_class()(instance, context=context, **options)


class TwentyAtATime(PageNumberPagination):
    page_size = 20


class Tickets(generics.ListCreateAPIView[Any], OfCompany):
    serializer_class = ListedTicket
    pagination_class = TwentyAtATime

    def get_serializer(self, *instances: Any, **options: Any) -> Any:
        if instances:
            return super().get_serializer(*instances, **options)
        return NewTicket(**options)

    def perform_create(self, serializer: serializers.BaseSerializer[Any]) -> None:
        serializer.save(company_id=self.request.user.pk)


class OneTicket(generics.RetrieveAPIView[Any], OfCompany):
    serializer_class = TicketWithHistory
    related = (*OfCompany.related, "history")


class WebhookFields(serializers.ModelSerializer[Webhook]):
    class Meta:
        model = Webhook
        fields = [
            "id",
            "type_id",
            "url",
            "active",
            "max_in_flight",
            "paused_reason",
            "created_at",
            "updated_at",
        ]


class Webhooks(generics.ListAPIView[Any], Plain):
    serializer_class = WebhookFields

    def get_queryset(self) -> QuerySet[Webhook]:
        return Webhook.objects.filter(company=self.request.user.pk, deleted_at=None).order_by("pk")
