"""The endpoints for files of tickets, and the same under the names of the live platform."""

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
from core.files.kinds import media_type_of, shown_name
from core.files.refusals import FileRefused
from core.files.scanning import scan
from tickets.api import files_schema, queries
from tickets.api.asking import actor, base_of
from tickets.api.representation import new_file_row
from tickets.api.serializers import AttachFiles, NoQuery
from tickets.changes import files
from tickets.changes.documents import NoSuchDocument
from tickets.models import Ticket, TicketFile

# Any other is a 422.
STATUSES = {
    "file_too_large": 413,
    "file_type_not_allowed": 415,
    "files_busy": 429,
    "file_seconds_spent": 429,
    "scanner_unavailable": 503,
}
# Seconds after which it is worth another try.
WAITS = {429: 5, 503: 60}


class NotAccepted(Refusal):
    """A file that is not taken; status and wait depend on why."""

    def __init__(self, refused: FileRefused) -> None:
        super().__init__(str(refused), code=refused.code)
        self.status_code = STATUSES.get(refused.code, 422)
        self.wait = refused.wait or WAITS.get(self.status_code)


@contextmanager
def refusals_answered() -> Iterator[None]:
    """What goes wrong with files, as answers."""
    try:
        yield
    except Ticket.DoesNotExist as error:
        raise Http404 from error
    except NoSuchDocument as error:
        said = "No document of this id or name was requested on the ticket."
        raise WrongField("requested_document", said, code="unknown_document") from error
    except files.NoSuchFile as error:
        said = f"There is no file {error.file_id} that can be attached to this ticket."
        raise WrongField("files", said, code="unknown_file") from error
    except FileRefused as refused:
        raise NotAccepted(refused) from refused


class UploadView(CompanyView):
    rate = "upload"

    def upload(self, request: CompanyRequest, ticket_id: int | None) -> Response:
        """Read, examine and store the file before any transaction begins; then make its row."""
        take_body(request)
        if (answered := first_answer(request)) is not None:
            return answered
        with refusals_answered():
            files.refuse_early(request.company, ticket_id)
            sent = read_upload(request)
            media_type = media_type_of(sent.content)
            if ticket_id is None and sent.requested_document is not None:
                raise NoSuchDocument(sent.requested_document)
            name = shown_name(sent.name, media_type)
            content, active = examine_file(sent.content, media_type, request.company.pk)
            scan(name, content)
            with files.stored(content) as stored_as:
                new = files.NewFile(
                    name=name,
                    description=sent.description,
                    media_type=media_type,
                    size=len(content),
                    sha256=hashlib.sha256(content).hexdigest(),
                    active=active,
                    stored_as=stored_as,
                )
                return self.keep(request, ticket_id, sent, new)

    @idempotent
    def keep(
        self, request: CompanyRequest, ticket_id: int | None, sent: Upload, new: files.NewFile
    ) -> Response:
        with refusals_answered():
            if ticket_id is None:
                file = files.keep_unattached(request.company, new)
            else:
                asked = sent.requested_document
                file = files.add_file(
                    request.company, ticket_id, actor(request), new, requested=asked
                )
        return Response({"success": True, "data": new_file_row(file, base_of(request))})


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
