"""Request bodies and query parameters of the ticket endpoints."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request

from companies.api.uploads import IdOrName
from core.api import strict_json
from core.api.bodies import (
    PLACE_CURSOR,
    Body,
    Cursor,
    Integer,
    Text,
    Word,
    WrongField,
)
from core.values.ids import ID_PATTERN
from deliveries.api.serializers import Moment
from tickets import rules
from tickets.api import following
from tickets.api.query_fields import (
    A_STATUS,
    Day,
    QueryInteger,
    Several,
    StatusNumber,
    Switch,
)
from tickets.changes.files import MOST_PER_TICKET
from tickets.models import Document
from tickets.stated_fields import STATED_FIELDS, StatedField
from tickets.statuses import MOVES, By, Status, joined, listed

DEEPEST_DATA = 20
MOST_DOCUMENTS = 100
LARGEST_PAGE = 100
WRONG_CURSOR = "Send the next_cursor of an answer to the same query."
REPEATED = ErrorDetail("This parameter is given more than once.", code="given_twice")


@extend_schema_field(
    {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"type": "object"},
        "pattern": r"^[ \t\r\n]*\{",
    }
)
class Data(Text):
    """JSON object in a string, stored exactly as the company wrote it (decision T10)."""

    default_error_messages = {
        # Doubled braces, as REST framework formats these messages.
        "invalid": 'Send a JSON object as a string, such as "{{\\"content\\":\\"lamp\\"}}".',
        "blank": "Send a JSON object as a string; an empty text is none.",
    }

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        try:
            value = strict_json.load_json(text, deepest=DEEPEST_DATA)
        except strict_json.BadJSON as error:
            raise serializers.ValidationError(
                f"This is not valid JSON: {error}.", code="invalid_json"
            ) from error
        if not isinstance(value, dict):
            self.fail("invalid")
        return text


@extend_schema_field({"type": "integer", "enum": sorted(MOVES[By.COMPANY])})
class CompanyStatus(Integer):
    """Status that a company may request."""

    def to_internal_value(self, data: Any) -> Status:
        number = super().to_internal_value(data)
        if number not in MOVES[By.COMPANY]:
            choices = joined(sorted(MOVES[By.COMPANY]), "or")
            raise serializers.ValidationError(f"Send {choices}.", code="invalid_choice")
        return Status(number)


class DocumentItem(Body):
    field_id = Text(max_length=50)
    key = Text(required=False, allow_blank=True)
    type = Word(choices=Document.Type.values, required=False)
    value = Text(required=False, allow_null=True, allow_blank=True)

    def validate(self, item: dict[str, Any]) -> dict[str, Any]:
        if problem := rules.wrong_value(item.get("type"), item.get("value")):
            raise WrongField("value", problem.message, code=problem.code)
        return item


class OpenTicket(Body):
    type_id = Integer()
    comments = Text(required=False, default="", allow_blank=True)
    data: Any = Data(required=False, help_text="A JSON object as a string.")
    shipment_id = Integer(required=False, allow_null=True)
    documents: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=DocumentItem(), required=False, max_length=MOST_DOCUMENTS
    )

    def get_fields(self) -> dict[str, Any]:
        return super().get_fields() | {one.name: stated_field(one) for one in STATED_FIELDS}


def stated_field(field: StatedField) -> serializers.Field[Any, Any, Any, Any]:
    """Return the serializer field for a stated field of a ticket."""
    options: dict[str, Any] = {"required": False, "allow_null": True, "help_text": field.about}
    if field.choices:
        return Word(choices=field.codes, **options)
    if field.is_text:
        return Text(allow_blank=True, max_length=field.longest, **options)
    return Integer(**options)


class UpdateTicket(Body):
    ticket_status_id = CompanyStatus(help_text=f"{listed(MOVES[By.COMPANY])}.")
    comments = Text(required=False, default="", allow_blank=True)
    data: Any = Data(required=False, default=None, help_text="Replaces the ticket's variables.")


class AddComment(Body):
    comment = Text(required=False, default="", allow_blank=True)


class AttachFiles(Body):
    files: Any = serializers.ListField(
        child=Integer(), min_length=1, max_length=MOST_PER_TICKET, help_text="Their ids."
    )
    requested_document: Any = IdOrName(required=False, default=None, allow_null=True)


class RateTicket(Body):
    rating = Integer(max_value=5)
    comment = Text(required=False, default="", allow_blank=True)


class Query(Body):
    """Query parameters, validated as strictly as a body: unknown and repeated ones are errors."""

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        parameters = request.query_params
        query = cls(data=parameters.dict())
        query.is_valid()
        repeated = {name: [REPEATED] for name in parameters if len(parameters.getlist(name)) > 1}
        if repeated or query.errors:
            raise serializers.ValidationError({**query.errors, **repeated})
        values: dict[str, Any] = query.validated_data
        return values


class NoQuery(Query):
    pass


class TypesQuery(Query):
    id = QueryInteger(required=False, help_text="Only this type.")


class DetailQuery(Query):
    getComments = Switch(required=False, default=False)


class ListQuery(DetailQuery):
    page = QueryInteger(required=False)
    limit = QueryInteger(required=False, default=20, max_value=LARGEST_PAGE)
    cursor = Cursor(ID_PATTERN, PLACE_CURSOR, help_text="The next_cursor of the previous page.")
    status_group = Word(choices=["active", "resolved"], required=False)
    status = Several(
        StatusNumber(),
        A_STATUS,
        help_text="Statuses, with commas between them. Takes precedence over status_group.",
    )
    ticket_status_id = Several(StatusNumber(), A_STATUS, help_text="The same as status.")
    type = Several(QueryInteger(), ID_PATTERN, help_text="Ticket types, with commas between them.")
    ticket_type_id = Several(QueryInteger(), ID_PATTERN, help_text="The same as type.")
    carrier_id = QueryInteger(required=False)
    shipment_id = QueryInteger(required=False)
    filter = QueryInteger(required=False, help_text="A ticket's id.")
    tracking_number = Text(required=False)
    date_from = Day(required=False)
    date_to = Day(required=False)
    updated_since = Moment(
        required=False, help_text="Tickets changed from this time on, the oldest change first."
    )
    q = Text(
        required=False,
        max_length=200,
        help_text="Words in the opening text, the public conversation or the variables.",
    )

    def validate(self, query: dict[str, Any]) -> dict[str, Any]:
        for one, other in (
            ("status", "ticket_status_id"),
            ("type", "ticket_type_id"),
            ("page", "cursor"),
            ("updated_since", "page"),
            ("updated_since", "q"),
        ):
            if one in query and other in query:
                raise WrongField(other, f"Send either {one} or {other}.", code="not_together")
        if "cursor" in query:
            query["cursor"] = self.read_cursor(query)
        return query

    def read_cursor(self, query: dict[str, Any]) -> Any:
        """Parse a cursor: a ticket id, or with `updated_since` a position among the changes."""
        try:
            if "updated_since" in query:
                following.parse_position(query["cursor"])
                return query["cursor"]
            return QueryInteger().run_validation(query["cursor"])
        except (following.BadPosition, serializers.ValidationError) as error:
            raise WrongField("cursor", WRONG_CURSOR, code="invalid_cursor") from error
