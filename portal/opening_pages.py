"""Pages on which a company opens a ticket: the choice of its type, and the form."""

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from portal import ticket_pages
from portal.new_ticket_form import NewTicketForm
from portal.problems import problem
from portal.visitors import VisitorRequest, company_page, render_page
from tickets import opening
from tickets.models import TicketType


@require_safe
@company_page()
def types_page(request: VisitorRequest) -> HttpResponse:
    """Show the types that companies may open, to choose one."""
    context = {"types": TicketType.objects.offered()}
    return render_page(request, "new_types.html", context)


@company_page()
def new_ticket_page(request: VisitorRequest, type_id: int) -> HttpResponse:
    """Show the form of a type; POST opens the ticket, or shows the form with all its errors."""
    company = request.visitor.company
    of_type = TicketType.objects.offered().filter(pk=type_id).first()
    if of_type is None:
        return not_offered(request)
    # Back loads the page anew, and browsers fill its form in again: it has the same key then.
    initial = {"key": UUID(hex=request.visitor.csrf[:32])}
    sent = {"data": request.POST or None, "files": request.FILES or None}
    form = NewTicketForm(company, of_type, initial=initial, **sent)
    if form.is_bound:
        if "key" in form.errors:
            return problem(request, "stale", 400)
        try:
            ticket = form.open_ticket()
        except opening.InvalidTicket:
            # The type has changed since it was read.
            return not_offered(request)
        if ticket is not None:
            return ticket_pages.done(request, ticket.pk, "opened")
    context = {"form": form, "cancel": reverse("portal_tickets")}
    return render_page(request, "new.html", context, form.status if form.is_bound else 200)


def not_offered(request: VisitorRequest) -> HttpResponse:
    context = {
        "heading": gettext("This kind of ticket is no longer offered"),
        "text": gettext("No ticket was opened. Choose another kind."),
        "back": reverse("portal_new"),
        "back_text": gettext("Choose another kind"),
    }
    return render_page(request, "problem.html", context, 404)
