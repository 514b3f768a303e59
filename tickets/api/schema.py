"""Description of the endpoints for tickets (GET /schema)."""

from typing import Any

from drf_spectacular.utils import extend_schema_view

from core.api.refusals import OwnRefusals
from core.api.schema import header, operation
from core.api.shapes import Acknowledgement
from tickets.api.conversation import CommentsQuery
from tickets.api.response_schemas import (
    CommentList,
    DuplicateTicket,
    TicketCreated,
    TicketDetail,
    TicketList,
    TicketRated,
)
from tickets.api.serializers import (
    AddComment,
    DetailQuery,
    ListQuery,
    OpenTicket,
    RateTicket,
    UpdateTicket,
)
from tickets.api.text_refusals import FULL_TICKET, TEXT_OF_DAY
from tickets.stated_fields import STATED_FIELDS
from tickets.statuses import (
    BLOCKING,
    FOLLOWED_UP_BY_COMMENT,
    MOVES,
    OPEN,
    TERMINAL,
    By,
    Status,
    joined,
    labels,
)

TAG = "Tickets"
# Statuses that can be reached from some open statuses only.
LIMITED = " ".join(
    f"{to:d} follows {joined(sorted(sources), 'and')} only."
    for to, sources in MOVES[By.COMPANY].items()
    if sources != OPEN
)
IGNORED = f"{joined(labels(TERMINAL), 'and')} tickets ignore the request."
CLOSED = {"ticket_closed": "The ticket is closed to comments."}
CHANGED = header(
    "X-Ticket-Changed",
    "1 if the request changed the ticket, 0 if it was ignored.",
    [200],
    {"type": "integer", "enum": [0, 1]},
)
STATUS_AFTER = header(
    "X-Ticket-Status",
    "The id of the ticket's status after the request.",
    [200],
    {"type": "integer", "enum": [status.value for status in Status]},
)
DUPLICATE = OwnRefusals(
    {"duplicate_ticket": "A ticket has already been created for this shipment."},
    DuplicateTicket,
    {"ticket_id": 41},
)
COMMENT = {
    "id": 12,
    "type": "client",
    "status_id": 6,
    "status_name": "in_review",
    "description": "Here is the invoice.",
    "created_by_name": "Acme",
    "created_at": "2026-01-02 00:00:00",
    "utc_created_at": "2026-01-02 00:00:00",
}
ROW: dict[str, Any] = {
    "id": 41,
    "company_id": 1,
    "ticket_type_id": 5,
    "ticket_type_name": "damaged",
    "reference": "guide",
    "ticket_status_id": 1,
    "ticket_status_name": "pending",
    "shipment_id": 4101,
    "tracking_number": "TEST0004101",
    "carrier": "acme",
    **{one.name: None for one in STATED_FIELDS},
    "comments": "The box is crushed.",
    "data": '{"content":"lamp"}',
    "documents": [],
    "files": [],
    "file_quantity": 0,
    "requested_documents": [],
    "reason_code": None,
    "amounts": None,
    "created_at": "2026-01-02 00:00:00",
    "updated_at": "2026-01-02 00:00:00",
    "utc_created_at": "2026-01-02 00:00:00",
    "last_comment": None,
    "allComments": [],
    "rating": {"evaluated": 0, "rating": None, "comment": None},
}
OPENED = {"from": None, "to": 1, "actor": "company", "at": "2026-01-02 00:00:00"}

tickets = extend_schema_view(
    get=operation(
        "listTickets",
        "List your tickets, newest first.",
        tag=TAG,
        query=ListQuery,
        answer=TicketList,
        shows={
            "data": [ROW],
            "total_rows": 1,
            "total_rows_exact": True,
            "counts": {"active": 1, "resolved": 0},
            "next_cursor": None,
        },
    ),
    post=operation(
        "openTicket",
        "Open a ticket.",
        tag=TAG,
        about="GET /tickets/types says what each type requires: `guide` means"
        " shipment_id, `credit` means credit_id, `legal-credit` means documents. A ticket of the"
        f" same type and shipment that is {joined(labels(BLOCKING), 'or')} is a duplicate.",
        body=OpenTicket,
        sends={
            "damaged": {
                "type_id": 5,
                "shipment_id": 4101,
                "comments": "The box is crushed.",
                "data": '{"content":"lamp"}',
            },
            "credit line": {
                "type_id": 19,
                "documents": [
                    {"field_id": "rfc", "type": "input", "value": "ACM010101AAA"},
                    {"field_id": "deed", "type": "file", "value": "https://files.example.com/1"},
                    {"field_id": "since", "type": "date", "value": "2020-05-01"},
                ],
            },
        },
        answer=TicketCreated,
        shows={"id": 41},
        errors={409: DUPLICATE, 429: TEXT_OF_DAY},
        idempotent=True,
    ),
)

one_ticket = extend_schema_view(
    get=operation(
        "readTicket",
        "Read one ticket with its history.",
        tag=TAG,
        query=DetailQuery,
        answer=TicketDetail,
        shows={"data": [{**ROW, "history": [OPENED], "appeal": None}], "total_rows": 1},
        errors={404: None},
    ),
    put=operation(
        "updateTicket",
        "Request another status, with a message and new variables.",
        tag=TAG,
        about=f"{LIMITED} {IGNORED}",
        body=UpdateTicket,
        sends={"follow up": {"ticket_status_id": 5, "comments": "Here is the invoice."}},
        answer=Acknowledgement,
        shows={"data": True},
        headers=[CHANGED, STATUS_AFTER],
        errors={404: None, 422: FULL_TICKET, 429: TEXT_OF_DAY},
    ),
)

ticket_comments = extend_schema_view(
    post=operation(
        "addComment",
        "Reply on a ticket.",
        tag=TAG,
        about=f"A reply can move a ticket from {joined(labels(FOLLOWED_UP_BY_COMMENT), 'or')} to"
        f" {Status.FOLLOW_UP.label}. {joined(labels(TERMINAL), 'and')} tickets are closed.",
        body=AddComment,
        sends={"reply": {"comment": "Here is the invoice."}},
        answer=Acknowledgement,
        shows={"data": True},
        headers=[CHANGED, STATUS_AFTER],
        errors={404: None, 422: CLOSED | FULL_TICKET, 429: TEXT_OF_DAY},
        idempotent=True,
    )
)

comments = extend_schema_view(
    get=operation(
        "listComments",
        "List a ticket's comments, oldest first.",
        tag=TAG,
        query=CommentsQuery,
        answer=CommentList,
        shows={"data": [COMMENT], "next_cursor": None},
        errors={404: None},
    )
)

ratings = extend_schema_view(
    post=operation(
        "rateTicket",
        "Rate a decided ticket, once.",
        tag=TAG,
        body=RateTicket,
        sends={"good": {"rating": 5, "comment": "Quick."}},
        answer=TicketRated,
        shows={"data": True, "message": "Successful."},
        errors={
            404: None,
            422: {
                "ticket_not_decided": "Only a decided ticket can be rated.",
                "already_rated": "The ticket has already been rated.",
            },
            429: TEXT_OF_DAY,
        },
        idempotent=True,
    )
)
