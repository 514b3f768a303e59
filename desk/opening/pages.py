"""Page "New ticket", on which an agent opens a ticket for a company that calls."""

from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from desk.common.pages import CHANGE_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from desk.opening import lookups
from desk.opening.forms import NewTicketForm
from tickets import opening
from tickets.changes.uploads import stored_uploads
from tickets.models import Agent


@desk_page(CHANGE_TICKET, "tickets.add_ticket")
def new_page(request: StaffRequest) -> HttpResponse:
    """Show the form; POST opens the ticket, or shows the form again with its errors."""
    if request.method != "POST":
        query = {name: request.GET.get(name, "") for name in ("company", "type", "shipment")}
        return new_form(request, NewTicketForm(initial={"mine": True, **query}))
    if "choose" in request.POST:
        # The type was changed: show its fields without opening a ticket.
        typed = request.POST.dict()
        typed["company"] = lookups.whole_name(typed.get("company", ""))
        return new_form(request, NewTicketForm(initial=typed))
    form = NewTicketForm(request.POST.dict())
    if not form.is_valid():
        return new_form(request, form, status=400)
    company = form.cleaned_data["company"]
    try:
        with stored_uploads(request.FILES.getlist("files")) as files:
            ticket = opening.open_for_caller(
                company,
                user=request.user,
                key=form.submission_key(company, files),
                mine=form.cleaned_data["mine"],
                files=files,
                **form.ticket_fields,
            )
    except FileRefused as error:
        form.show_error("files", str(error))
        return new_form(request, form, status=400)
    except opening.InvalidTicket as error:
        form.show_error(error.field, required_text(form, error))
        return new_form(request, form, status=400)
    except opening.TicketExists as error:
        form.show_error(
            "shipment_id", gettext("A ticket has already been created for this shipment.")
        )
        return new_form(request, form, status=409, existing=error.ticket_id)
    facts = {"ticket": ticket.pk, "company": company.name}
    messages.success(request, gettext("Ticket %(ticket)d is open for %(company)s.") % facts)
    return redirect("admin:tickets_ticket_change", ticket.pk)


def new_form(
    request: StaffRequest,
    form: NewTicketForm,
    status: int = 200,
    existing: int | None = None,
) -> HttpResponse:
    return draw(
        request,
        "admin/tickets/ticket/new.html",
        gettext("New ticket"),
        status=status,
        form=form,
        key=form["key"].value() or uuid4(),
        existing=existing,
        # Browsers do not restore file inputs, so the page says that files must be added again.
        lost_files=bool(request.FILES),
        is_agent=Agent.objects.filter(user=request.user).exists(),
    )


def required_text(form: NewTicketForm, error: opening.InvalidTicket) -> str:
    """Return the API's message, or one with the type's name if a field is missing."""
    if error.code != "required":
        return str(error)
    return gettext("Required for tickets of type %(type)s.") % {"type": form.of_type}
