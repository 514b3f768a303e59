"""Endpoints for files of tickets, also under the names of the live platform."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import Http404
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.api.uploads import Upload, read_upload, take_body
from companies.api.views import CompanyView, Refusal, first_answer, idempotent
from core.api.bodies import WrongField
from core.files.examining import examine_file
from core.files.kinds import display_name, media_type_of
from core.files.refusals import FileRefused
from core.files.scanning import scan
from tickets.api import files_schema, queries
from tickets.api.representation import new_file_row
from tickets.api.request_context import actor, base_of
from tickets.api.serializers import AttachFiles, NoQuery
from tickets.changes import files
from tickets.changes.documents import NoSuchDocument
from tickets.models import Ticket, TicketFile

# HTTP status by code; 422 for all others.
STATUSES = {
    "file_too_large": 413,
    "file_type_not_allowed": 415,
    "files_busy": 429,
    "file_seconds_spent": 429,
    "scanner_unavailable": 503,
}
# Retry-After in seconds by HTTP status.
WAITS = {429: 5, 503: 60}


class NotAccepted(Refusal):
    """Refusal of a file; HTTP status and Retry-After depend on the reason."""

    def __init__(self, refused: FileRefused) -> None:
        super().__init__(str(refused), code=refused.code)
        self.status_code = STATUSES.get(refused.code, 422)
        self.wait = refused.wait or WAITS.get(self.status_code)


@contextmanager
def refusals_answered() -> Iterator[None]:
    """Convert exceptions about files to API errors."""
    try:
        yield
    except Ticket.DoesNotExist as error:
        raise Http404 from error
    except NoSuchDocument as error:
        message = "No document of this id or name was requested on the ticket."
        raise WrongField("requested_document", message, code="unknown_document") from error
    except files.NoSuchFile as error:
        message = f"There is no file {error.file_id} that can be attached to this ticket."
        raise WrongField("files", message, code="unknown_file") from error
    except FileRefused as refused:
        raise NotAccepted(refused) from refused


class UploadView(CompanyView):
    rate = "upload"

    def upload(self, request: CompanyRequest, ticket_id: int | None) -> Response:
        """Read, examine and store a file outside of any transaction, then insert its row."""
        take_body(request)
        if (stored_answer := first_answer(request)) is not None:
            return stored_answer
        with refusals_answered():
            files.refuse_early(request.company, ticket_id)
            upload = read_upload(request)
            media_type = media_type_of(upload.content)
            if ticket_id is None and upload.requested_document is not None:
                raise NoSuchDocument(upload.requested_document)
            name = display_name(upload.name, media_type)
            content, active = examine_file(upload.content, media_type, request.company.pk)
            scan(name, content)
            with files.store_content(content) as stored_as:
                file = files.NewFile(
                    name=name,
                    description=upload.description,
                    media_type=media_type,
                    size=len(content),
                    sha256=hashlib.sha256(content).hexdigest(),
                    active=active,
                    stored_as=stored_as,
                )
                return self.save(request, ticket_id, upload, file)

    @idempotent
    def save(
        self, request: CompanyRequest, ticket_id: int | None, upload: Upload, file: files.NewFile
    ) -> Response:
        with refusals_answered():
            if ticket_id is None:
                row = files.keep_unattached(request.company, file)
            else:
                document = upload.requested_document
                row = files.add_file(
                    request.company, ticket_id, actor(request), file, requested=document
                )
        return Response({"success": True, "data": new_file_row(row, base_of(request))})


@files_schema.ticket_files
class TicketFiles(UploadView):
    def post(self, request: CompanyRequest, ticket_id: int) -> Response:
        return self.upload(request, ticket_id)


@files_schema.upload_evidence
class UploadEvidence(UploadView):
    def post(self, request: CompanyRequest) -> Response:
        return self.upload(request, None)


@files_schema.attach_evidence
class AttachEvidence(CompanyView):
    def put(self, request: CompanyRequest, ticket_id: int) -> Response:
        body = AttachFiles.read(request)
        with refusals_answered():
            attached: list[TicketFile] = files.attach_files(
                request.company,
                ticket_id,
                actor(request),
                body["files"],
                requested=body["requested_document"],
            )
        rows = [new_file_row(file, base_of(request)) for file in attached]
        return Response({"success": True, "data": rows})


@files_schema.evidence
class Evidence(CompanyView):
    compressible = True

    def get(self, request: CompanyRequest, ticket_id: int) -> Response:
        NoQuery.read(request)
        with refusals_answered():
            rows = queries.list_files(request.company, ticket_id, base=base_of(request))
        return Response({"success": True, "data": rows})
