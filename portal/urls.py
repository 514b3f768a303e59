"""URLs of the company's page, and of the endpoint that opens it."""

from django.urls import path

from portal import (
    delivery_pages,
    doors,
    list_pages,
    opening_pages,
    ticket_pages,
    webhook_pages,
)
from portal.api import PortalSessions

urlpatterns = [
    path("portal/sessions", PortalSessions.as_view()),
    path("c/k/<str:secret>", doors.link_page, name="portal_link"),
    path("c/s/<str:secret>", doors.session_page, name="portal_session"),
    path("c/tickets", list_pages.tickets_page, name="portal_tickets"),
    path("c/tickets/new", opening_pages.types_page, name="portal_new"),
    path("c/tickets/new/<id:type_id>", opening_pages.new_ticket_page, name="portal_new_of_type"),
    path("c/tickets/<id:ticket_id>", ticket_pages.ticket_page, name="portal_ticket"),
    path("c/tickets/<id:ticket_id>/files/<id:file_id>", ticket_pages.file_page, name="portal_file"),
    path(
        "c/tickets/<id:ticket_id>/files/<id:file_id>/thumbnail",
        ticket_pages.file_page,
        {"thumbnail": True},
        name="portal_thumbnail",
    ),
    *(
        path(f"c/tickets/<id:ticket_id>/{act}", ticket_pages.act_page, {"act": act})
        for act in ticket_pages.FORMS
    ),
    path("c/webhooks", webhook_pages.webhooks_page, name="portal_webhooks"),
    path("c/webhooks/<id:webhook_id>", webhook_pages.webhook_page, name="portal_webhook"),
    path("c/webhooks/<id:webhook_id>/secret", webhook_pages.secret_page, name="portal_secret"),
    path("c/deliveries/<uuid:delivery_id>", delivery_pages.delivery_page, name="portal_delivery"),
    path("c/leave", doors.leave_page, name="portal_leave"),
]
