"""The page "New ticket": an agent opens one for a company that calls."""

from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from desk.common import attachments
from desk.common.pages import CHANGE_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from desk.opening import lookups
from desk.opening.forms import NewTicketForm
from tickets import opening
from tickets.models import Agent


@desk_page(CHANGE_TICKET, "tickets.add_ticket")
def new_page(request: StaffRequest) -> HttpResponse:
    """GET asks, POST opens; what is refused is shown again with all that was typed."""
    if request.method != "POST":
        asked = {name: request.GET.get(name, "") for name in ("company", "type", "shipment")}
        return new_form(request, NewTicketForm(initial={"mine": True, **asked}))
    if "choose" in request.POST:
        # The fields of another type, and nothing is opened yet.
        typed = request.POST.dict()
        typed["company"] = lookups.whole_name(typed.get("company", ""))
        return new_form(request, NewTicketForm(initial=typed))
    form = NewTicketForm(request.POST.dict())
    if not form.is_valid():
        return new_form(request, form, status=400)
    try:
        with attachments.stored_uploads(request.FILES.getlist("files")) as files:
            ticket = opening.open_for_caller(
                form.cleaned_data["company"],
                user=request.user,
                key=form.submission_key(files),
                mine=form.cleaned_data["mine"],
                files=files,
                **form.given,
            )
    except FileRefused as error:
        form.tell("files", str(error))
        return new_form(request, form, status=400)
    except opening.InvalidTicket as error:
        form.tell(error.field, required_text(form, error))
        return new_form(request, form, status=400)
    except opening.TicketExists as error:
        form.tell("shipment_id", gettext("A ticket has already been created for this shipment."))
        return new_form(request, form, status=409, existing=error.ticket_id)
    facts = {"ticket": ticket.pk, "company": form.cleaned_data["company"].name}
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
        # No browser fills them in again.
        lost_files=bool(request.FILES),
        is_agent=Agent.objects.filter(user=request.user).exists(),
    )


def required_text(form: NewTicketForm, error: opening.InvalidTicket) -> str:
    """As the API says it, but for what is simply missing."""
    if error.code != "required":
        return str(error)
    return gettext("Required for tickets of type %(type)s.") % {"type": form.of_type}
