"""Endpoint of the test environment to make an agent's move (decision N15)."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.views import CompanyView, Unprocessable, idempotent
from core.api.bodies import Body, Integer, Text
from core.api.schema import operation
from core.api.shapes import Acknowledgement
from tickets import working
from tickets.api.schema import CHANGED, STATUS_AFTER, TAG
from tickets.api.text_refusals import TEXT_OF_DAY, stores_text
from tickets.api.views import changed_response
from tickets.changes.writes import MoveRefused
from tickets.models import Ticket
from tickets.statuses import AGENT_MOVES, Status, joined, listed
from tickets.updating import UpdateOutcome

MOST_REQUESTED = 30
LONGEST_NAME = 200


@extend_schema_field({"type": "integer", "enum": sorted(AGENT_MOVES)})
class AgentStatus(Integer):
    """Status that agents can move a ticket to."""

    def to_internal_value(self, data: Any) -> Status:
        number = super().to_internal_value(data)
        if number not in AGENT_MOVES:
            choices = joined(sorted(AGENT_MOVES), "or")
            raise serializers.ValidationError(f"Send {choices}.", code="invalid_choice")
        return Status(number)


class PlayedMove(Body):
    ticket_status_id = AgentStatus(help_text=f"{listed(AGENT_MOVES)}.")
    reason = Text(required=False, default="", allow_blank=True)
    requested_documents = serializers.ListField(
        child=Text(max_length=LONGEST_NAME),
        required=False,
        max_length=MOST_REQUESTED,
        help_text="With Incomplete: the names of what is missing.",
    )


@extend_schema_view(
    post=operation(
        "playMove",
        "Test environment only: move a ticket of yours as an agent would.",
        tag=TAG,
        about="Reopens decided tickets too, as a lead would, which accepts an appeal.",
        body=PlayedMove,
        sends={
            "ask for a document": {
                "ticket_status_id": 4,
                "reason": "We cannot see what is broken.",
                "requested_documents": ["photo of the box"],
            },
        },
        answer=Acknowledgement,
        shows={"data": True},
        headers=[CHANGED, STATUS_AFTER],
        errors={
            404: None,
            422: {"move_refused": "A ticket cannot move from Accepted to Declined."},
            429: TEXT_OF_DAY,
        },
        idempotent=True,
    )
)
class PlayedMoves(CompanyView):
    @idempotent
    @stores_text
    def post(self, request: CompanyRequest, ticket_id: int) -> Response:
        body = PlayedMove.read(request)
        try:
            working.play_move(
                request.company,
                ticket_id,
                body["ticket_status_id"],
                reason=body["reason"],
                requested=body.get("requested_documents", ()),
            )
        except Ticket.DoesNotExist as error:
            raise Http404 from error
        except MoveRefused as error:
            raise Unprocessable(str(error), code="move_refused") from error
        return changed_response(UpdateOutcome(True, body["ticket_status_id"]))
