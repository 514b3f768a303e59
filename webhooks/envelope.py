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
    """Return the `created_at` of an event, in whole milliseconds (decision N2).

    It is the time of the fact, but not after `now`, and always after `last`, the time of the
    previous event of the same shipment.
    """
    time = min(occurred_at, now)
    time = time.replace(microsecond=time.microsecond // 1000 * 1000)
    return time if last is None or time > last else last + MILLISECOND


def envelope(name: str, at: datetime, data: Payload) -> Payload:
    """Wrap `data` in an event's payload. `name`: of the event type. `at`: see event_time."""
    moment = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": name, "created_at": moment, "data": data}


def envelope_schema(name: str, data: Schema) -> Schema:
    """Return the JSON Schema of a payload made by `envelope`."""
    return object_schema(type={"type": "string", "enum": [name]}, created_at=MOMENT, data=data)


def object_schema(**fields: Schema) -> Schema:
    """Return the schema of an object that has all of these members and may have others."""
    return {"type": "object", "properties": fields, "required": list(fields)}
