"""Page of a ticket: what happened, what is asked for, and what its company can do."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, ngettext

from companies.api.rates import is_within_rate
from companies.models import Company
from core.files.kinds import KINDS, MOST_BYTES
from core.files.refusals import FileRefused
from core.values.ids import read_id
from core.values.texts import is_blank, legible
from core.values.zones import in_zone
from portal import answering, conversation
from portal import ticket_contents as contents
from portal.answering import ChosenFile
from portal.visitors import VisitorRequest, company_page, render_page
from tickets.api.serving import signed_path, thumbnail_response
from tickets.changes.agent_files import MOST_AT_ONCE
from tickets.changes.uploads import stored_uploads
from tickets.labels import status_label
from tickets.models import Comment, Ticket, TicketFile
from tickets.statuses import TERMINAL, WAITING_FOR_COMPANY, Status

DOCUMENT = "document-"
MOST_STARS = 5
NOTICES = {
    "opened": gettext_noop("Your ticket is open. We answer here, and by email if we need more."),
    "appeal": gettext_noop("Your appeal is sent. Somebody else looks at the decision again."),
    "rating": gettext_noop("Thank you. Your rating is sent."),
}
# Phones offer camera and files because PDF is among them, and `capture` would leave the camera
# alone. Pictures are listed one by one, because browsers then convert HEIC.
ACCEPTED = ",".join(KINDS)
# Bounds of a form's files; its other fields take less than 512 KiB.
SIZES = {
    "most_bytes": settings.MAX_UPLOAD_BYTES - 512 * 1024,
    "most_bytes_of_one": MOST_BYTES,
}


class Refused(NamedTuple):
    """Form that was not taken: errors by field, what was typed, and the status of the answer."""

    errors: Mapping[str, str]
    typed: Mapping[str, str]
    status: int = 422


@company_page()
def ticket_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    return show(request, ticket_id)


def show(request: VisitorRequest, ticket_id: int, refused: Refused | None = None) -> HttpResponse:
    errors, typed, status = refused or Refused({}, {}, 200)
    try:
        ticket: Any = contents.read_ticket(request.visitor.company, ticket_id)
        before, whole = (request.GET.get(name, "") for name in ("before", "message"))
        if whole.isdecimal():
            thread = conversation.read_whole(ticket, read_id(whole) or conversation.OPENING)
        else:
            thread = conversation.read_page(ticket, read_id(before))
    except (Ticket.DoesNotExist, Comment.DoesNotExist) as error:
        raise Http404 from error
    token, box = contents.token_of(ticket), contents.box_of(ticket)
    context = {
        "part": "tickets",
        "ticket": ticket,
        "address": reverse("portal_ticket", args=[ticket_id]),
        "status": status_label(ticket.status),
        "colour": Status(ticket.status).row.colour.value,
        "shipment": contents.shipment_of(ticket),
        "box": box,
        "thread": thread,
        "is_newest": not before and not whole,
        "heading": in_zone(gettext("Conversation")),
        "state": token,
        "notice": notice_of(ticket, request.GET) if request.GET.get("at") == token else "",
        "errors": errors,
        "typed": typed,
        "files": [
            (f"{DOCUMENT}{pk}", name, errors.get(f"{DOCUMENT}{pk}")) for pk, name in box.documents
        ],
        "accepted": ACCEPTED,
        **SIZES,
        "is_decided": ticket.status in TERMINAL,
        "stars": [
            (number, ngettext("%(number)d star", "%(number)d stars", number) % {"number": number})
            for number in range(1, MOST_STARS + 1)
        ],
    }
    return render_page(request, "ticket.html", context, status=status)


def notice_of(ticket: Any, sent: Mapping[str, str]) -> str:
    """Return what to say after a form was taken, as long as the ticket stays as it left it."""
    if sent.get("sent") != "answer":
        return gettext(NOTICES[sent["sent"]]) if sent.get("sent") in NOTICES else ""
    if ticket.status in WAITING_FOR_COMPANY:
        return gettext("Your answer is sent. We still need what is asked for below.")
    text = gettext("Your answer is sent. Ticket %(ticket)d is with us again.")
    return text % {"ticket": ticket.pk}


def done(request: VisitorRequest, ticket_id: int, sent: str) -> HttpResponse:
    token = contents.read_state(request.visitor.company, ticket_id)
    response = HttpResponse(status=303)
    response["Location"] = f"{reverse('portal_ticket', args=[ticket_id])}?sent={sent}&at={token}"
    return response


@company_page()
def state_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    """Answer a token that changes with whatever the page shows; open pages ask for it."""
    try:
        return JsonResponse({"state": contents.read_state(request.visitor.company, ticket_id)})
    except Ticket.DoesNotExist as error:
        raise Http404 from error


@company_page()
def file_page(request: VisitorRequest, ticket_id: int, file_id: int) -> HttpResponse:
    return redirect(signed_path(file_of(request, ticket_id, file_id)))


@company_page()
def thumbnail_page(request: VisitorRequest, ticket_id: int, file_id: int) -> HttpResponse:
    return thumbnail_response(file_of(request, ticket_id, file_id))


def file_of(request: VisitorRequest, ticket_id: int, file_id: int) -> TicketFile:
    own = TicketFile.objects.filter(ticket__company=request.visitor.company, public=True)
    return get_object_or_404(own, ticket=ticket_id, pk=file_id)


@company_page()
def answer_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    company = request.visitor.company
    if request.method != "POST":
        return redirect("portal_ticket", ticket_id)
    ticket = get_object_or_404(company.tickets.only("status"), pk=ticket_id)
    text, uploads = typed_text(request), chosen_files(request)
    if is_blank(text) and not uploads:
        return refuse(request, ticket_id, "text", gettext("Write an answer, or choose a file."))
    if (wrong := too_many(company, len(uploads))) is not None:
        return refuse(request, ticket_id, "files", wrong)
    with ExitStack() as stack:
        # Files of a decided ticket are not even opened.
        files, errors = (
            ([], {}) if ticket.status in TERMINAL else store_files(stack, uploads, company.pk)
        )
        if errors:
            return show(request, ticket_id, Refused(errors, typed_texts(request)))
        seen = contents.read_token(request.POST.get("seen", ""))
        try:
            answering.answer(company, ticket_id, seen, text, files)
        except answering.REFUSALS as error:
            return refuse_act(request, ticket_id, error)
    return done(request, ticket_id, "answer")


@company_page()
def appeal_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    if request.method != "POST":
        return redirect("portal_ticket", ticket_id)
    text = typed_text(request)
    if is_blank(text):
        return refuse(request, ticket_id, "text", gettext("Write why the decision is wrong."))
    try:
        answering.appeal(request.visitor.company, ticket_id, text)
    except answering.REFUSALS as error:
        return refuse_act(request, ticket_id, error)
    return done(request, ticket_id, "appeal")


@company_page()
def rating_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    if request.method != "POST":
        return redirect("portal_ticket", ticket_id)
    stars = read_id(request.POST.get("stars", ""))
    if stars is None or stars > MOST_STARS:
        return refuse(request, ticket_id, "stars", gettext("Choose one to five stars."))
    try:
        answering.rate(request.visitor.company, ticket_id, stars, typed_text(request, "comment"))
    except answering.REFUSALS as error:
        return refuse_act(request, ticket_id, error)
    return done(request, ticket_id, "rating")


def typed_text(request: VisitorRequest, field: str = "text") -> str:
    """Return the text of a form; browsers send its line ends as CRLF."""
    return request.POST.get(field, "").replace("\r\n", "\n").replace("\0", "").strip()


def chosen_files(request: VisitorRequest) -> "list[tuple[str, UploadedFile[Any]]]":
    return [
        (name, upload)
        for name in request.FILES
        if name == "files" or name.startswith(DOCUMENT)
        for upload in request.FILES.getlist(name)
    ]


def too_many(company: Company, files: int) -> str | None:
    """Count uploads as the API does; return what to say if they are too many."""
    if files > MOST_AT_ONCE:
        text = gettext("Attach at most %(most)d files at a time.")
        return text % {"most": MOST_AT_ONCE}
    if files and not is_within_rate(company, "upload", files):
        return gettext("Too many files in a minute. Wait a minute, then send them again.")
    return None


def store_files(
    stack: ExitStack, uploads: "list[tuple[str, UploadedFile[Any]]]", company_id: int
) -> tuple[list[ChosenFile], dict[str, str]]:
    """Examine and store files until the stack ends; return them, and refusals by field."""
    files: list[ChosenFile] = []
    errors: dict[str, str] = {}
    for name, upload in uploads:
        try:
            (new,) = stack.enter_context(stored_uploads([upload], company_id))
        except FileRefused as error:
            errors[name] = "\n".join(filter(None, [errors.get(name), legible(str(error))]))
        else:
            files.append(ChosenFile(read_id(name.removeprefix(DOCUMENT)), new))
    return files, errors


def refuse(request: VisitorRequest, ticket_id: int, field: str, text: str) -> HttpResponse:
    return show(request, ticket_id, Refused({field: text}, typed_texts(request)))


def typed_texts(request: VisitorRequest) -> dict[str, str]:
    return {field: typed_text(request, field) for field in ("text", "comment")}


def refuse_act(request: VisitorRequest, ticket_id: int, error: Exception) -> HttpResponse:
    if isinstance(error, Ticket.DoesNotExist):
        raise Http404 from error
    field, text, status = answering.refusal(error)
    return show(request, ticket_id, Refused({field: text}, typed_texts(request), status))
