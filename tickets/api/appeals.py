"""Endpoint to appeal a decision (decision N14): its body, its description, its view."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, Conflict, Unprocessable, idempotent
from core.api.bodies import Body, Text
from core.api.schema import operation
from core.api.shapes import Acknowledgement
from tickets.api.request_context import actor
from tickets.api.schema import CHANGED, STATUS_AFTER, TAG
from tickets.api.serializers import MOST_DOCUMENTS, DocumentItem
from tickets.api.text_refusals import FULL_TICKET, TEXT_OF_DAY, stores_text
from tickets.api.views import changed_response
from tickets.changes import appeals
from tickets.models import Ticket
from tickets.statuses import Status
from tickets.updating import UpdateOutcome


class AppealTicket(Body):
    comment = Text(help_text="Why the decision should be looked at again.")
    documents: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DocumentItem(), required=False, max_length=MOST_DOCUMENTS
    )


@extend_schema_view(
    post=operation(
        "appealTicket",
        "Appeal a decision, once.",
        tag=TAG,
        about=f"{Status.DECLINED.label} tickets only, and only for some weeks after the decision."
        " A lead looks at it again: the ticket is then reopened, or the appeal is refused with a"
        " reason. Until then the ticket stays as it is.",
        body=AppealTicket,
        sends={
            "appeal": {
                "comment": "The photo shows the label of the other box.",
                "documents": [
                    {"field_id": "photo", "type": "file", "value": "https://files.example.com/2"}
                ],
            }
        },
        answer=Acknowledgement,
        shows={"data": True},
        headers=[CHANGED, STATUS_AFTER],
        errors={
            404: None,
            409: {"already_appealed": "This decision has already been appealed."},
            422: {
                **FULL_TICKET,
                "not_declined": "Only a Declined ticket can be appealed. This one is Pending.",
                "appeal_too_late": "This decision could be appealed until 2026-02-01 00:00 UTC.",
                "appeal_refused": "The appeal of this decision was refused. It cannot be repeated.",
            },
            429: TEXT_OF_DAY,
        },
        idempotent=True,
    )
)
class TicketAppeals(CompanyView):
    @idempotent
    @stores_text
    def post(self, request: CompanyRequest, ticket_id: int) -> Response:
        body = AppealTicket.read(request)
        try:
            appeals.appeal_decision(
                request.company,
                ticket_id,
                actor(request),
                body["comment"],
                body.get("documents", ()),
            )
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        except appeals.AppealRefused as error:
            answer = Conflict if error.code == "already_appealed" else Unprocessable
            raise answer(str(error), code=error.code) from error
        return changed_response(UpdateOutcome(True, Status.DECLINED))
