"""Page on which leads add and invite agents, and the page behind an invitation's link."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy, ngettext

from core.values.zones import known_zones
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.joining import adding, invitations
from desk.joining.agent_rows import (
    COLUMNS,
    MOST_BYTES,
    AgentRow,
    BadFile,
    RowProblem,
    file_text,
    read_rows,
)
from desk.joining.forms import FIELD_OF, AgentFileForm, AgentForm, type_names
from desk.models import Invitation
from desk.people.mailed_links import LinkOver
from desk.people.password_pages import PasswordByLinkPage

MOST_INVITATIONS = 200
MOST_PROBLEMS = 100


@desk_page(adding.ADD)
def add_agents_page(request: StaffRequest) -> HttpResponse:
    """Show the form and the upload; POST invites one agent, checks a file, or imports it."""
    step = request.POST.get("step") if request.method == "POST" else None
    if step == "one":
        return invite_one(request)
    if step in ("file", "add"):
        return add_by_file(request, apply=step == "add")
    return draw_add_agents(request)


def invite_one(request: StaffRequest) -> HttpResponse:
    form = AgentForm(request.POST)
    if form.is_valid():
        problems = adding.add_agents([form.as_row()], by=request.user, url=desk_url(request))
        for problem in problems:
            form.add_error(FIELD_OF.get(problem.column), problem.message)
        if not problems:
            return redirect_after_adding(request, 1)
    return draw_add_agents(request, form=form, status=400)


def add_by_file(request: StaffRequest, *, apply: bool) -> HttpResponse:
    """Check an uploaded file, or with `apply` add the agents of the checked text."""
    try:
        text = request.POST.get("text", "") if apply else uploaded_text(request)
        if len(text.encode()) > MOST_BYTES:
            raise BadFile(gettext("The file is too large."))
        rows = read_rows(text)
    except BadFile as error:
        return draw_add_agents(request, problems=[RowProblem(0, "", str(error))], status=400)
    problems = adding.add_agents(rows, by=request.user, url=desk_url(request), check=not apply)
    if apply and not problems:
        return redirect_after_adding(request, len(rows))
    return draw_add_agents(
        request, rows=rows, text=text, problems=problems, status=400 if problems else 200
    )


def uploaded_text(request: HttpRequest) -> str:
    """Return the text of the uploaded file. Raises BadFile."""
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        raise BadFile(gettext("Choose a file."))
    return file_text(file.read(MOST_BYTES + 1))


def redirect_after_adding(request: HttpRequest, count: int) -> HttpResponse:
    text = ngettext("%(count)d agent was invited.", "%(count)d agents were invited.", count)
    messages.success(request, text % {"count": count})
    return redirect("desk_add_agents")


def draw_add_agents(
    request: StaffRequest,
    *,
    form: AgentForm | None = None,
    rows: list[AgentRow] | None = None,
    text: str = "",
    problems: list[RowProblem] | None = None,
    status: int = 200,
) -> HttpResponse:
    waiting = Invitation.objects.filter(accepted_at=None).select_related("user")
    wrong = problems or []
    context = {
        "form": form or AgentForm(),
        "file_form": AgentFileForm(),
        "rows": [[(name, row.values[name]) for name in COLUMNS] for row in rows or []],
        "text": text,
        "problems": wrong[:MOST_PROBLEMS],
        "more_problems": len(wrong[MOST_PROBLEMS:]),
        "columns": COLUMNS,
        "types": type_names(),
        "zones": known_zones(),
        "days": invitations.VALID_DAYS,
        "invitations": [
            (one, invitations.has_expired(one))
            for one in waiting.order_by("-sent_at")[:MOST_INVITATIONS]
        ],
        "mail_is_off": not settings.EMAIL_HOST
        and settings.EMAIL_BACKEND.endswith("console.EmailBackend"),
    }
    title = gettext("Add agents")
    return draw(request, "admin/joining/add_agents.html", title, status=status, **context)


@desk_page(adding.ADD, post_only=True)
def invitation_change(request: StaffRequest, user_id: int) -> HttpResponse:
    """Send an invitation again, or revoke it."""
    try:
        if "revoke" in request.POST:
            user, text = (
                invitations.revoke(user_id),
                gettext("The invitation of %(name)s is revoked."),
            )
        else:
            user = invitations.resend(user_id, by=request.user, url=desk_url(request))
            text = gettext("%(name)s gets a new link. The old one no longer works.")
        messages.success(request, text % {"name": user.get_username()})
    except LinkOver as over:
        messages.error(request, str(over))
    return redirect("desk_add_agents")


def desk_url(request: HttpRequest) -> str:
    return request.build_absolute_uri("/")


class InvitationPage(PasswordByLinkPage):
    token_generator = invitations.tokens
    template_name = "admin/joining/invitation.html"
    title = gettext_lazy("Set your password")

    def set_password(self, user: User, password: str) -> None:
        invitations.accept(user, password)
