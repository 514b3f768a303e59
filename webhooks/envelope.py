"""The envelope of signed events and its JSON Schema. Pure."""

from datetime import UTC, datetime, timedelta

from webhooks.event_types import Payload, Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
MOMENT: Schema = {
    "type": "string",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}


MILLISECOND = timedelta(milliseconds=1)


def event_time(occurred_at: datetime, now: datetime, last: datetime | None) -> datetime:
    """The `created_at` of an event, in whole milliseconds (decision N2).

    It is when the fact happened, at the latest `now`, and later than `last`, the time of the event
    before it of the same shipment.
    """
    time = min(occurred_at, now)
    time = time.replace(microsecond=time.microsecond // 1000 * 1000)
    return time if last is None or time > last else last + MILLISECOND


def envelope(name: str, at: datetime, data: Payload) -> Payload:
    """The payload of an event: its type's name, its time (see event_time), and its data."""
    moment = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": name, "created_at": moment, "data": data}


def envelope_schema(name: str, data: Schema) -> Schema:
    """The schema of what `envelope` returns."""
    return object_schema(type={"type": "string", "enum": [name]}, created_at=MOMENT, data=data)


def object_schema(**fields: Schema) -> Schema:
    """Return the schema of an object that has all of these members. More may come."""
    return {"type": "object", "properties": fields, "required": list(fields)}
