from typing import Any

from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, Conflict, Unprocessable, idempotent
from core.api.bodies import WrongField, errors_of
from tickets import opening, updating
from tickets.api import conversation, queries, schema, type_schema
from tickets.api.representation import filter_options, type_row, user_information
from tickets.api.request_context import actor, base_of
from tickets.api.serializers import (
    AddComment,
    DetailQuery,
    ListQuery,
    NoQuery,
    OpenTicket,
    RateTicket,
    TypesQuery,
    UpdateTicket,
)
from tickets.api.text_refusals import stores_text
from tickets.models import Ticket, TicketType


def changed_response(outcome: updating.UpdateOutcome) -> Response:
    """Return the answer to ignored and effective requests alike; headers say what changed."""
    headers = {
        "X-Ticket-Changed": str(int(outcome.changed)),
        "X-Ticket-Status": str(int(outcome.status)),
    }
    return Response({"data": True}, headers=headers)


@schema.tickets
class Tickets(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest) -> Response:
        query, parameters = ListQuery.read(request), request.query_params.dict()
        page = queries.list_tickets(request.company, query, parameters, base=base_of(request))
        return Response(page)

    @idempotent
    @stores_text
    def post(self, request: CompanyRequest) -> Response:
        try:
            ticket = opening.open_ticket(request.company, actor(request), **opening_body(request))
        except opening.InvalidTicket as error:
            raise WrongField(error.field, str(error), code=error.code) from error
        except opening.TicketExists as error:
            raise Conflict(
                str(error), code="duplicate_ticket", ticket_id=error.ticket_id
            ) from error
        return Response({"id": ticket.pk})


def opening_body(request: CompanyRequest) -> dict[str, Any]:
    """Return the body of a new ticket. Raises ValidationError with all its errors (decision E1)."""
    try:
        return OpenTicket.read(request)
    except ValidationError as wrong:
        if not isinstance(request.data, dict) or "type_id" in errors_of(wrong):
            raise
        try:
            # Add a field that the type requires to the malformed ones.
            opening.find_type(request.data["type_id"], request.data)
        except opening.InvalidTicket as error:
            more = WrongField(error.field, str(error), code=error.code)
            raise ValidationError({**errors_of(more), **errors_of(wrong)}) from error
        raise


@schema.one_ticket
class OneTicket(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest, ticket_id: int) -> Response:
        with_comments = DetailQuery.read(request)["getComments"]
        try:
            row = queries.describe_ticket(
                request.company, ticket_id, with_comments=with_comments, base=base_of(request)
            )
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        return Response({"data": [row], "total_rows": 1})

    @stores_text
    def put(self, request: CompanyRequest, ticket_id: int) -> Response:
        body = UpdateTicket.read(request)
        try:
            outcome = updating.update_ticket(
                request.company,
                ticket_id,
                actor(request),
                to=body["ticket_status_id"],
                text=body["comments"],
                data=body["data"],
            )
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        return changed_response(outcome)


@schema.ticket_comments
class TicketComments(CompanyView):
    @idempotent
    @stores_text
    def post(self, request: CompanyRequest, ticket_id: int) -> Response:
        text = AddComment.read(request)["comment"]
        try:
            outcome = updating.comment(request.company, ticket_id, actor(request), text)
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        except updating.TicketClosed as error:
            raise Unprocessable(str(error), code="ticket_closed") from error
        return changed_response(outcome)


@schema.comments
class Comments(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest, ticket_id: int) -> Response:
        query = conversation.CommentsQuery.read(request)
        try:
            rows, cursor = conversation.list_comments(
                request.company, ticket_id, after=query.get("cursor", 0), limit=query["limit"]
            )
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        return Response({"data": rows, "next_cursor": cursor})


@type_schema.types
class Types(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest) -> Response:
        query = TypesQuery.read(request)
        types = TicketType.objects.offered()
        if "id" in query:
            types = types.filter(pk=query["id"])
        return Response({"data": [type_row(one) for one in types]})


@type_schema.filter_options
class FilterOptions(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest) -> Response:
        NoQuery.read(request)
        # Include retired types, as the list still has their tickets.
        return Response(filter_options(TicketType.objects.only("name")))


@type_schema.user_information
class UserInformation(CompanyView):
    def get(self, request: CompanyRequest) -> Response:
        NoQuery.read(request)
        return Response(user_information(request.company.pk))


@schema.ratings
class Ratings(CompanyView):
    @idempotent
    @stores_text
    def post(self, request: CompanyRequest, ticket_id: int) -> Response:
        try:
            updating.rate(request.company, ticket_id, **RateTicket.read(request))
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        except updating.RatingRefused as error:
            raise Unprocessable(str(error), code=error.code) from error
        return Response({"data": True, "message": "Successful."})
