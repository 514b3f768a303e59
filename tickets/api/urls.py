from django.urls import path

from tickets.api import files, serving, views
from tickets.api.appeals import TicketAppeals
from tickets.api.sandbox import PlayedMoves

urlpatterns = [
    path("company/tickets", views.Tickets.as_view()),
    path("company/tickets/<id:ticket_id>", views.OneTicket.as_view()),
    path("company/tickets/<id:ticket_id>/comments", views.TicketComments.as_view()),
    path("company/tickets/<id:ticket_id>/appeal", TicketAppeals.as_view()),
    path("company/tickets/<id:ticket_id>/files", files.TicketFiles.as_view()),
    path("company/tickets/comments/<id:ticket_id>", views.Comments.as_view()),
    path("tickets/filters-options", views.FilterOptions.as_view()),
    path("user-information", views.UserInformation.as_view()),
    path("company/upload/evidences", files.UploadEvidence.as_view()),
    path("company/attach/evidences/<id:ticket_id>", files.AttachEvidence.as_view()),
    path("company/evidences/<id:ticket_id>", files.Evidence.as_view()),
    path("files/<str:signed>", serving.signed_file, name="signed_file"),
    path("tickets/types", views.Types.as_view()),
    path("tickets/ratings/<id:ticket_id>", views.Ratings.as_view()),
]
# Served in the test environment only (decision N15).
sandbox = [path("test/tickets/<id:ticket_id>/move", PlayedMoves.as_view())]
