"""Description of the endpoints for files (GET /schema)."""

from typing import Any

from drf_spectacular.utils import extend_schema_view

from companies.api.uploads import FileBody, FileFormShape
from core.api.schema import operation
from core.files.examining import NO_TIME_LEFT, TOO_LONG, TOO_MANY, UNREADABLE
from core.files.kinds import LARGEST, OTHER_TYPE, TOO_LARGE
from core.files.scanning import HARMFUL, NOT_SCANNED
from tickets.api.response_schemas import FileCreated, FileList, FilesAttached
from tickets.api.serializers import AttachFiles
from tickets.changes.files import CLOSED, MOST_PER_TICKET, MOST_UNATTACHED

TAG = "Files"
ABOUT = (
    "JPEG, PNG, WebP or PDF, detected by content, at most 10 MiB. Images are re-encoded: rotated"
    " upright, and without metadata such as EXIF and location. In a form the file is the field"
    " `file`, and the other fields are the same."
)
BODIES = {"application/json": FileBody, "multipart/form-data": FileFormShape}
# Image of one pixel.
SAMPLE_BODY = {
    "name": "box.png",
    "content_base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB"
    "5Sfe/AAAAABJRU5ErkJggg==",
    "description": "The box as it arrived.",
}
URL = "https://desk.example.com/files/Mg:1xYzAb:c2lnbmF0dXJl"
CREATED = {"id": 2, "name": "box.png", "url": URL, "file_url": URL}
ROW = {
    **CREATED,
    "content_type": "image/png",
    "size": 67,
    "description": "The box as it arrived.",
    "requested_document": None,
    "created_at": "2026-01-02 00:00:00",
}

FILE_REFUSALS = {
    413: {"file_too_large": TOO_LARGE % LARGEST},
    415: {"file_type_not_allowed": OTHER_TYPE},
    429: {"files_busy": TOO_MANY, "file_seconds_spent": NO_TIME_LEFT},
    503: {"scanner_unavailable": NOT_SCANNED},
}
FILE_ERRORS = {
    "file_empty": "The file is empty.",
    "file_unreadable": UNREADABLE,
    "file_too_complex": TOO_LONG,
    "file_harmful": HARMFUL,
}
TICKET_ERRORS = {
    "too_many_files": f"A ticket has at most {MOST_PER_TICKET} files.",
    "ticket_closed": CLOSED,
}
QUOTA = {"too_many_files": f"{MOST_UNATTACHED} files wait to be attached. Attach some first."}

UPLOAD: Any = {
    "tag": TAG,
    "about": ABOUT,
    "body": BODIES,
    "sends": {"photo": SAMPLE_BODY},
    "answer": FileCreated,
    "shows": {"success": True, "data": CREATED},
    "idempotent": True,
}

ticket_files = extend_schema_view(
    post=operation(
        "addFile",
        "Add a file to an open ticket.",
        errors={404: None, **FILE_REFUSALS, 422: {**FILE_ERRORS, **TICKET_ERRORS}},
        **UPLOAD,
    )
)

upload_evidence = extend_schema_view(
    post=operation(
        "uploadEvidence",
        "Upload a file that you attach to a ticket within a day.",
        errors={**FILE_REFUSALS, 422: {**FILE_ERRORS, **QUOTA}},
        **UPLOAD,
    )
)

attach_evidence = extend_schema_view(
    put=operation(
        "attachEvidence",
        "Attach uploaded files to an open ticket: all of them, or none.",
        tag=TAG,
        about=f"At most {MOST_PER_TICKET} files a ticket. Those that it has already stay.",
        body=AttachFiles,
        sends={"one": {"files": [104101]}},
        answer=FilesAttached,
        shows={"success": True, "data": [CREATED]},
        errors={404: None, 422: TICKET_ERRORS},
    )
)

evidence = extend_schema_view(
    get=operation(
        "listEvidence",
        "List the files of a ticket, oldest first.",
        tag=TAG,
        answer=FileList,
        shows={"success": True, "data": [ROW]},
        errors={400: None, 404: None},
    )
)
