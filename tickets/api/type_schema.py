"""Description of the endpoints for ticket types (GET /schema)."""

from typing import Any

from drf_spectacular.utils import extend_schema_view
from rest_framework import serializers

from core.api.schema import operation
from core.api.shapes import FlagValue, shape
from tickets.api.response_schemas import REFERENCES
from tickets.api.serializers import TypesQuery
from tickets.models.types import ELEMENTS

TAG = "Tickets"

TypeInput = shape(
    "TypeInput",
    name=serializers.CharField(help_text="The key in `data`."),
    el=serializers.ChoiceField(choices=ELEMENTS),
    required=serializers.BooleanField(),
    type=serializers.CharField(required=False),
    label=serializers.CharField(required=False),
    options=serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Of a select."
    ),
)
TypeFile = shape(
    "TypeFile",
    name=serializers.CharField(),
    description=serializers.CharField(required=False),
    type=serializers.CharField(required=False),
    required=serializers.BooleanField(required=False),
)


class AssistantContext(serializers.Serializer[Any]):
    is_blocked = serializers.BooleanField(
        help_text="True: an AI assistant must not open tickets of this type."
    )
    use_case = serializers.CharField(allow_blank=True, help_text="When to choose this type.")
    requires_guide = serializers.BooleanField(help_text="Whether it needs a shipment.")
    agent_notes = serializers.ListField(child=serializers.CharField())


class Rules(serializers.Serializer[Any]):
    reference = serializers.ChoiceField(choices=REFERENCES)
    inputs = TypeInput(many=True, help_text="What to ask for and put into `data`.")
    files = TypeFile(many=True, help_text="What to send with the ticket.")
    mcp_context = AssistantContext(help_text="For AI assistants.")


class TypeRow(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    rules = Rules()
    type = serializers.ChoiceField(choices=REFERENCES)
    active = FlagValue()


TypeList = shape("TypeList", data=TypeRow(many=True))


class FilterChoice(serializers.Serializer[Any]):
    value = serializers.IntegerField()
    lang = serializers.CharField(help_text="Its name, as in rows; a key to translate.")


class FilterChoices(serializers.Serializer[Any]):
    statuses = FilterChoice(many=True)
    types = FilterChoice(many=True)


class CallerData(serializers.Serializer[Any]):
    company_id = serializers.IntegerField()


UserInformation = shape(
    "UserInformation",
    data=CallerData(),
    token=serializers.CharField(
        help_text="The same for clients that read it from a JSON Web Token. It opens nothing."
    ),
)

types = extend_schema_view(
    get=operation(
        "listTicketTypes",
        "List the ticket types that you can open tickets of.",
        tag=TAG,
        query=TypesQuery,
        answer=TypeList,
        shows={
            "data": [
                {
                    "id": 5,
                    "name": "damaged",
                    "description": "The shipment arrived damaged.",
                    "rules": {
                        "reference": "guide",
                        "inputs": [
                            {
                                "name": "content",
                                "el": "input",
                                "required": True,
                                "label": "What is in the parcel?",
                            }
                        ],
                        "files": [{"name": "Photo of the damage"}],
                        "mcp_context": {
                            "is_blocked": False,
                            "use_case": "The parcel or what is in it arrived broken.",
                            "requires_guide": True,
                            "agent_notes": ["Not for parcels that are late: that is delay."],
                        },
                    },
                    "type": "guide",
                    "active": 1,
                }
            ]
        },
    )
)

filter_options = extend_schema_view(
    get=operation(
        "listFilterOptions",
        "List what the list of tickets can be filtered by.",
        tag=TAG,
        answer=FilterChoices,
        shows={
            "statuses": [{"value": 1, "lang": "pending"}],
            "types": [{"value": 5, "lang": "damaged"}],
        },
        errors={400: None},
    )
)

user_information = extend_schema_view(
    get=operation(
        "readUserInformation",
        "Read the id of your company.",
        tag=TAG,
        answer=UserInformation,
        shows={
            "data": {"company_id": 3},
            "token": "eyJhbGciOiJub25lIn0.eyJkYXRhIjogeyJjb21wYW55X2lkIjogM319.unsigned",
        },
        errors={400: None},
    )
)
