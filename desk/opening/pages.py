"""The page "New ticket": an agent opens one for a company that calls."""

from uuid import uuid4

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from desk.common import attachments
from desk.common.admin_base import ModelAdmin
from desk.common.requests import StaffRequest
from desk.opening import lookups
from desk.opening.forms import NewTicketForm
from tickets import opening
from tickets.models import Agent

PERMISSION = "tickets.add_ticket"


class OpeningPages(ModelAdmin):
    """What TicketAdmin has for tickets that are not there yet."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.new_page)
        return [path("new/", page, name="tickets_ticket_new"), *super().get_urls()]

    def may_open(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request) and request.user.has_perm(PERMISSION)

    def new_page(self, request: StaffRequest) -> HttpResponse:
        """GET asks, POST opens; what is refused is shown again with all that was typed."""
        if not self.may_open(request):
            raise PermissionDenied
        if request.method != "POST":
            asked = {name: request.GET.get(name, "") for name in ("company", "type", "shipment")}
            return self.new_form(request, NewTicketForm(initial={"mine": True, **asked}))
        if "choose" in request.POST:
            # The fields of another type, and nothing is opened yet.
            typed = request.POST.dict()
            typed["company"] = lookups.whole_name(typed.get("company", ""))
            return self.new_form(request, NewTicketForm(initial=typed))
        form = NewTicketForm(request.POST.dict())
        if not form.is_valid():
            return self.new_form(request, form, status=400)
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
            return self.new_form(request, form, status=400)
        except opening.InvalidTicket as error:
            form.tell(error.field, required_text(form, error))
            return self.new_form(request, form, status=400)
        except opening.TicketExists as error:
            form.tell(
                "shipment_id", gettext("A ticket has already been created for this shipment.")
            )
            return self.new_form(request, form, status=409, existing=error.ticket_id)
        facts = {"ticket": ticket.pk, "company": form.cleaned_data["company"].name}
        messages.success(request, gettext("Ticket %(ticket)d is open for %(company)s.") % facts)
        return redirect("admin:tickets_ticket_change", ticket.pk)

    def new_form(
        self,
        request: StaffRequest,
        form: NewTicketForm,
        status: int = 200,
        existing: int | None = None,
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("New ticket"),
            "form": form,
            "key": form["key"].value() or uuid4(),
            "existing": existing,
            # No browser fills them in again.
            "lost_files": bool(request.FILES),
            "is_agent": Agent.objects.filter(user=request.user).exists(),
        }
        template = "admin/tickets/ticket/new.html"
        return TemplateResponse(request, template, context, status=status)


def required_text(form: NewTicketForm, error: opening.InvalidTicket) -> str:
    """As the API says it, but for what is simply missing."""
    if error.code != "required":
        return str(error)
    return gettext("Required for tickets of type %(type)s.") % {"type": form.of_type}
