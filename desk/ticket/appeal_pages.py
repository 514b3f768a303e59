"""What a lead decides on an appeal, sent from the ticket's page (decision N14)."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseNotAllowed
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_noop

from desk.common.forms import AppealForm
from desk.common.requests import StaffRequest
from desk.queue import places
from desk.ticket import pending
from desk.ticket.pages import TicketPages
from tickets.changes.appeals import NoAppeal, OwnDecision
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import PendingAnswer

DONE = {
    "accept": gettext_noop("You accepted the appeal."),
    "refuse": gettext_noop("You refused the appeal."),
}


class AppealPages(TicketPages):
    """A POST from the box beside the conversation."""

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.appeal_page)
        return [
            path("<id:ticket_id>/appeal/", page, name="tickets_ticket_appeal"),
            *super().get_urls(),
        ]

    def appeal_page(self, request: StaffRequest, ticket_id: int) -> HttpResponse:
        """Decide; what is refused is shown again with the reason kept."""
        ticket = self.working_on(request, ticket_id)
        if not request.user.has_perm("tickets.reopen_ticket"):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        form = AppealForm(request.POST)
        if not form.is_valid():
            return self.show(request, ticket, status=400, appeal_form=form)
        said = form.cleaned_data
        answer = PendingAnswer(
            ticket_id=ticket_id,
            user=request.user,
            kind=said["decision"],
            text=said["reason"],
            seen=str(said["seen"]),
            alone=said["alone"],
        )
        try:
            if said["back"]:
                pending.take_up(answer, said["back"])
            pending.send_or_keep(answer)
        except (StaleTicket, MoveRefused, NoAppeal) as error:
            fresh = self.working_on(request, ticket_id)
            return self.show(
                request,
                fresh,
                status=409,
                appeal_form=form,
                appeal_refusal=str(error),
                appeal_alone=isinstance(error, OwnDecision) and error.alone,
            )
        if answer.due_at is None:
            messages.success(request, gettext(DONE[said["decision"]]))
        return places.stay(request, ticket_id)
