"""Pages on which a company opens a ticket: the choice of its type, and the form."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from portal import ticket_pages
from portal.new_ticket_form import NewTicketForm
from portal.visitors import VisitorRequest, company_page, problem, render_page, stale_form_words
from tickets import opening
from tickets.models import TicketType


@require_safe
@company_page()
def types_page(request: VisitorRequest) -> HttpResponse:
    """Show the types that companies may open, to choose one."""
    context = {"part": "tickets", "types": TicketType.objects.offered()}
    return render_page(request, "new_types.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@company_page()
def new_ticket_page(request: VisitorRequest, type_id: int) -> HttpResponse:
    """Show the form of a type; POST opens the ticket, or shows the form with all its errors."""
    company = request.visitor.company
    of_type = TicketType.objects.offered().filter(pk=type_id).first()
    if of_type is None:
        return not_offered(request)
    form = NewTicketForm(company, of_type, data=request.POST or None, files=request.FILES or None)
    if form.is_bound:
        if "key" in form.errors:
            return problem(request, 400, *stale_form_words())
        try:
            ticket = form.open_ticket()
        except opening.InvalidTicket:
            # The type has changed since it was read.
            return not_offered(request)
        if ticket is not None:
            return ticket_pages.done(request, ticket.pk, "opened")
    context = {"part": "tickets", "form": form, "cancel": reverse("portal_tickets")}
    return render_page(request, "new.html", context, form.status if form.is_bound else 200)


def not_offered(request: VisitorRequest) -> HttpResponse:
    context = {
        "heading": gettext("This kind of ticket is no longer offered"),
        "text": gettext("No ticket was opened. Choose another kind."),
        "back": reverse("portal_new"),
        "back_text": gettext("Choose another kind"),
    }
    return render_page(request, "problem.html", context, 404)
