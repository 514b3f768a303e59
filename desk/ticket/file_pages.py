"""The files of a ticket: whole, as a thumbnail, and page by page.

Everybody who may see the ticket gets them; nothing in a file runs in the browser (decision N8).
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from core.files.examining import picture_of_page
from core.files.refusals import FileRefused
from core.files.storage import FileMissing, read_file
from desk.common.pages import VIEW_TICKET, desk_page
from tickets.api.serving import file_response, harmless_content, thumbnail_response
from tickets.models import TicketFile

PDF = "application/pdf"


@desk_page(VIEW_TICKET)
def file_page(request: HttpRequest, ticket_id: int, file_id: int) -> HttpResponse:
    return file_response(file_of(ticket_id, file_id))


@desk_page(VIEW_TICKET)
def thumbnail_page(request: HttpRequest, ticket_id: int, file_id: int) -> HttpResponse:
    return thumbnail_response(file_of(ticket_id, file_id))


@desk_page(VIEW_TICKET)
def page_picture(request: HttpRequest, ticket_id: int, file_id: int, number: int) -> HttpResponse:
    """Return a page of a PDF as a picture; the header X-Page-Count has the number of pages."""
    file = file_of(ticket_id, file_id)
    if file.media_type != PDF:
        raise Http404
    try:
        picture, pages = picture_of_page(read_file(file.stored_as), number)
    except FileMissing as error:
        raise Http404 from error
    except FileRefused as refused:
        busy = refused.code == "files_busy"
        return HttpResponse(str(refused), status=503 if busy else 422)
    if not picture:
        raise Http404
    answer = harmless_content(picture, "image/jpeg", f"page-{number}.jpg", inline=True)
    answer["X-Page-Count"] = str(pages)
    return answer


def file_of(ticket_id: int, file_id: int) -> TicketFile:
    """Return a ticket's file. Raises Http404."""
    return get_object_or_404(TicketFile, ticket=ticket_id, pk=file_id)
