"""The envelope of signed events and its JSON Schema. Pure."""

from datetime import UTC, datetime

from webhooks.event_types import Payload, Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
MOMENT: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}


def envelope(name: str, now: datetime, data: Payload) -> Payload:
    """The payload of an event: its type's name, when it was created, and its data."""
    moment = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": name, "created_at": moment, "data": data}


def envelope_schema(name: str, data: Schema) -> Schema:
    """The schema of what `envelope` returns."""
    return object_schema(type={"type": "string", "enum": [name]}, created_at=MOMENT, data=data)


def object_schema(**fields: Schema) -> Schema:
    """The schema of an object that has all of these members and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
