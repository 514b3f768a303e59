"""Pages on which a company opens a ticket: the choice of its type, and the form."""

from contextlib import ExitStack
from datetime import timedelta
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from core.files.refusals import FileRefused
from core.values.zones import active_zone, moment_text
from portal import ticket_pages
from portal.new_ticket_form import NewTicketForm
from portal.problems import problem
from portal.visitors import ACTOR, VisitorRequest, company_page, render_page
from tickets import opening
from tickets.changes.text_bounds import TextOfDaySpent
from tickets.models import Ticket, TicketType


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
    if request.method != "POST":
        # Back loads the page anew, and browsers fill its form in again: it has the same key then.
        key = UUID(hex=request.visitor.csrf[:32])
        return new_form(request, NewTicketForm(company, of_type, initial={"key": key}))
    form = NewTicketForm(company, of_type, data=request.POST, files=request.FILES)
    if "key" in form.errors:
        return problem(request, "stale", 400)
    try:
        ticket = open_valid(form)
    except opening.InvalidTicket:
        # The type has changed since it was read.
        return not_offered(request)
    except opening.TicketExists as error:
        return new_form(request, form, 409, error.ticket_id)
    except TextOfDaySpent as refusal:
        again = moment_text(timezone.now() + timedelta(seconds=refusal.wait), active_zone())
        text = gettext("Your company has sent too much text today. Send this after %(time)s.")
        form.add_error(None, text % {"time": again})
        return new_form(request, form, 429)
    except FileRefused as refusal:
        form.add_error("files", str(refusal))
        return new_form(request, form, 400)
    if ticket is None:
        return new_form(request, form, 400)
    return ticket_pages.done(request, ticket.pk, "opened")


def open_valid(form: NewTicketForm) -> Ticket | None:
    """Open the ticket of a form, with its files; None if the form has errors.

    Raises what `opening.open_ticket` raises.
    """
    is_valid = form.is_valid()
    with ExitStack() as stack:
        files = form.store_files(stack)
        if not is_valid or form.errors:
            return None
        return opening.open_once(
            form.company,
            ACTOR,
            key=form.submission_key(form.company, files),
            files=files,
            **form.ticket_fields,
        )


def new_form(
    request: VisitorRequest, form: NewTicketForm, status: int = 200, existing: int | None = None
) -> HttpResponse:
    context = {
        "part": "tickets",
        "form": form,
        "existing": existing,
        # Browsers do not keep chosen files.
        "lost_files": bool(request.FILES),
        **ticket_pages.SIZES,
    }
    return render_page(request, "new.html", context, status)


def not_offered(request: VisitorRequest) -> HttpResponse:
    context = {
        "heading": gettext("This kind of ticket is no longer offered"),
        "text": gettext("No ticket was opened. Choose another kind."),
        "back": reverse("portal_new"),
        "back_text": gettext("Choose another kind"),
    }
    return render_page(request, "problem.html", context, 404)
