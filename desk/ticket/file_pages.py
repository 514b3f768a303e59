"""The files of a ticket, as its page shows them: whole, small, and page by page."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path

from core.files.examining import picture_of_page
from core.files.refusals import FileRefused
from core.files.storage import FileMissing, read_file
from desk.common.admin_base import ModelAdmin
from tickets.api.serving import file_response, harmless_content, thumbnail_response
from tickets.models import TicketFile

PDF = "application/pdf"


class FilePages(ModelAdmin):
    """For whoever may see the ticket; nothing of a file runs in the browser (decision N8)."""

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        of_file = "<id:ticket_id>/files/<id:file_id>/"
        return [
            path(f"{of_file}file/", guarded(self.file_page), name="tickets_ticket_file"),
            path(
                f"{of_file}thumbnail/",
                guarded(self.thumbnail_page),
                name="tickets_ticket_thumbnail",
            ),
            path(
                f"{of_file}page/<int:number>/",
                guarded(self.page_picture),
                name="tickets_ticket_page",
            ),
            *super().get_urls(),
        ]

    def file_page(self, request: HttpRequest, ticket_id: int, file_id: int) -> HttpResponse:
        return file_response(self.file_of(request, ticket_id, file_id))

    def thumbnail_page(self, request: HttpRequest, ticket_id: int, file_id: int) -> HttpResponse:
        return thumbnail_response(self.file_of(request, ticket_id, file_id))

    def page_picture(
        self, request: HttpRequest, ticket_id: int, file_id: int, number: int
    ) -> HttpResponse:
        """A page of a PDF as a picture; the header X-Page-Count says how many there are."""
        file = self.file_of(request, ticket_id, file_id)
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

    def file_of(self, request: HttpRequest, ticket_id: int, file_id: int) -> TicketFile:
        """The file for whoever may see its ticket. Raises PermissionDenied and Http404."""
        ticket = self.get_object(request, str(ticket_id))
        if not self.has_view_permission(request, ticket):
            raise PermissionDenied
        if ticket is None:
            raise Http404
        return get_object_or_404(TicketFile.objects.filter(ticket=ticket), pk=file_id)
