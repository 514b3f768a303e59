"""The page of one ticket, and what is sent from it."""

from dataclasses import asdict
from typing import Any, cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    JsonResponse,
)
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from core.values.ids import read_id
from desk.common import attachments
from desk.common.forms import WriteForm
from desk.common.requests import StaffRequest, staff
from desk.queue import places, walking
from desk.ticket import (
    answering,
    next_ticket,
    page_context,
    pending,
    together,
    unread,
    visits,
)
from desk.ticket.answering import SentBefore
from desk.ticket.file_pages import FilePages
from desk.ticket.moves import MovePages
from desk.ticket.pending_pages import PendingPages, returned_context
from tickets.assignment import taking
from tickets.assignment.reassigning import NotGiven
from tickets.changes.actors import NotAllowed
from tickets.changes.notifications import mark_read
from tickets.changes.seen import require_seen, seen_of, with_seen
from tickets.changes.snoozing import asleep_until
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import PendingAnswer, Ticket


class TicketPages(FilePages, MovePages, PendingPages):
    """What TicketAdmin has beside its list. Everything that writes is a POST."""

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        views = (
            ("write", self.write_page),
            ("presence", self.presence_page),
            ("claim", self.claim_page),
        )
        return [
            path("take/", guarded(self.take_page), name="tickets_ticket_take"),
            *(
                path(f"<id:ticket_id>/{name}/", guarded(view), name=f"tickets_ticket_{name}")
                for name, view in views
            ),
            *super().get_urls(),
        ]

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Ticket | None:
        try:
            pk = self.opts.pk.to_python(object_id)
            found = with_seen(self.get_queryset(request)).select_related("rating")
            ticket = found.annotate(asleep_until=asleep_until()).get(pk=pk)
        except (Ticket.DoesNotExist, ValidationError):
            return None
        return ticket

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """A ticket is read here; nothing of it is edited in a form."""
        ticket = self.get_object(request, object_id)
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request, ticket):
            raise PermissionDenied
        if ticket is None:
            text = gettext("There is no ticket %(ticket)s.")
            messages.warning(request, text % {"ticket": object_id})
            return redirect("admin:index")
        mark_read(staff(request), ticket_id=ticket.pk)
        return self.show(cast(StaffRequest, request), ticket)

    def show(
        self,
        request: StaffRequest,
        ticket: Ticket,
        *,
        form: WriteForm | None = None,
        refusal: str = "",
        status: int = 200,
        **more: Any,
    ) -> HttpResponse:
        """The page; `more` is for the boxes that further pages add to it."""
        before, walk = read_id(request.GET.get("before", "")), walking.walk(request, ticket)
        had = unread.tokens_in(request.POST).get(ticket.pk)
        back = returned_context(request.user, ticket, fresh=form is None and not more)
        had = back.pop("had", had)
        context = {
            **self.admin_site.each_context(request),
            **page_context.page_context(
                ticket,
                request.user,
                may_work=self.has_change_permission(request),
                before=before,
                macro=request.GET.get("macro", ""),
            ),
            "walk": walk,
            "beside": walk.rows(ticket),
            "opts": self.opts,
            "original": ticket,
            "title": gettext("Ticket %(ticket)s") % {"ticket": ticket.pk},
            "is_fullwidth": "1",
            "form": form,
            "refusal": refusal,
            # A page of earlier messages shows nothing that is newer than the page it came from.
            "seen": request.GET.get("seen", "") if before else seen_of(ticket),
            "unread": unread.lines_since(ticket, had, request.user),
            **back,
            **more,
        }
        return TemplateResponse(request, "admin/tickets/ticket/page.html", context, status=status)

    def working_on(self, request: HttpRequest, ticket_id: int) -> Ticket:
        """The ticket of a request that changes it. Raises PermissionDenied and Http404."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        ticket = self.get_object(request, str(ticket_id))
        if ticket is None:
            raise Http404
        return ticket

    def write_page(self, request: StaffRequest, ticket_id: int) -> HttpResponse:
        """Take a reply or a note, and the move it comes with; what is refused is shown again."""
        ticket = self.working_on(request, ticket_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        form, public = WriteForm(request.POST, request.FILES), "reply" in request.POST
        if not form.is_valid():
            return self.show(request, ticket, form=form, status=400)
        said = form.cleaned_data
        answer = PendingAnswer(
            ticket_id=ticket_id,
            user=request.user,
            text=said["text"],
            public=public,
            to=said["to"],
            seen=str(said["seen"]),
            requested=said["requested"],
            **pending.decision_fields(said["decision"]),
        )
        try:
            if said["back"]:
                kept, before = request.POST.getlist("kept"), pending.take_up(answer, said["back"])
                answer.files = [one for one in before.files if one["stored_as"] in kept]
            with attachments.stored_uploads(request.FILES.getlist("files")) as files:
                answer.files += map(asdict, files)
                answering.submit_answer(answer, key=said["key"], again=said["again"])
        except (StaleTicket, MoveRefused, FileRefused, ValueError) as error:
            fresh, again = self.working_on(request, ticket_id), isinstance(error, SentBefore)
            return self.show(request, fresh, form=form, refusal=str(error), again=again, status=409)
        if answer.due_at is None:
            sent = gettext("Sent to the company.") if public else gettext("Note saved.")
            messages.success(request, sent)
        if not public:
            together.warn_of_unknown_names(request, answer.text)
        response = next_ticket.next_page(request, ticket_id)
        if said["key"]:
            # Tells the page's script which draft has arrived and can go.
            response.set_cookie("desk_sent", str(said["key"]), path="/admin/", samesite="Lax")
        return response

    def presence_page(self, request: StaffRequest, ticket_id: int) -> HttpResponse:
        """A sign of life from an open page; answers who else is there."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        writing = request.POST.get("writing") == "1"
        if visits.record_visit(ticket_id, request.user, writing=writing) is None:
            raise Http404
        present = visits.others(ticket_id, request.user)
        answers = pending.answers_of_ticket(ticket_id)
        lines = [*pending.about_to_send(answers, request.user), *map(str, present)]
        return JsonResponse({"present": lines})

    def claim_page(self, request: StaffRequest, ticket_id: int) -> HttpResponse:
        self.working_on(request, ticket_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        had = unread.tokens_in(request.POST).get(ticket_id)
        try:
            taking.take_ticket(ticket_id, request.user, seen=require_seen(had))
        except StaleTicket as error:
            fresh = self.working_on(request, ticket_id)
            return self.show(request, fresh, unclaimed=str(error), status=409)
        except (NotAllowed, NotGiven) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, gettext("The ticket is now assigned to you."))
        return places.stay(request, ticket_id)

    def take_page(self, request: StaffRequest) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        return next_ticket.take_page(request)
