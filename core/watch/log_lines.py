"""Lines of logs: as text for people, or as a JSON object for programs (`LOG_FORMAT`).

docs/operations/logs.md says what a line has.
"""

import json
from datetime import UTC, datetime
from logging import Formatter, LogRecord
from typing import Any

from core.watch import request_ids
from core.watch.process_kinds import ProcessKind

FORMATS = ("text", "json")
# The request that the line belongs to stands between brackets, or a hyphen.
LINE = "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"
# Further fields of a line. Whatever else a library adds to a record is left out, such as a whole
# request with its headers.
FIELDS = (
    "method",
    "route",
    "path",
    "status",
    "duration_ms",
    "bytes",
    "address",
    "company_id",
    "token",
    "webhook_id",
    "delivery_id",
    "event_id",
    "ticket_id",
    "attempt",
    "outcome",
    "error",
    "host",
    "retry_in_seconds",
    "left_out",
    "job",
    "task",
)


class TextLines(Formatter):
    """Text for people."""

    def __init__(self) -> None:
        super().__init__(LINE)


class JsonLines(Formatter):
    """A JSON object in ASCII on one line, whatever the message holds."""

    def format(self, record: LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        request_id = getattr(record, "request_id", None)
        line: dict[str, Any] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": None if request_id == "-" else request_id,
            "process": ProcessKind.name,
            "pid": record.process,
        }
        more = record.__dict__
        line |= {name: more[name] for name in FIELDS if more.get(name) is not None}
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def is_news(record: LogRecord) -> bool:
    """Return False for our own report that we are not ready yet: the caller reads the answer."""
    request = getattr(record, "request", None)
    return getattr(request, "path", "") != "/readyz"


def name_request(record: LogRecord) -> bool:
    """Set the record's request id to that of the request at work, unless it has one."""
    record.request_id = getattr(record, "request_id", None) or request_ids.current() or "-"
    return True


def formatter(form: str) -> Formatter:
    """Return the formatter of one of FORMATS."""
    return JsonLines() if form == "json" else TextLines()
