"""Pages that list and end sessions: one's own, or those of users one manages."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, ngettext

from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.common.session_store import session_digest
from desk.people import session_list


@desk_page()
def own_sessions_page(request: StaffRequest) -> HttpResponse:
    """List one's own sessions; POST ends one of the others, or all others."""
    return sessions_answer(request, request.user)


@desk_page()
def user_sessions_page(request: StaffRequest, user_id: int) -> HttpResponse:
    """List another user's sessions; POST ends one, or all."""
    user = get_object_or_404(User, pk=user_id)
    if user.pk == request.user.pk:
        return redirect("desk_sessions")
    if not session_list.may_end(request.user, user):
        raise PermissionDenied
    return sessions_answer(request, user)


def sessions_answer(request: StaffRequest, user: User) -> HttpResponse:
    own = user.pk == request.user.pk
    key = request.session.session_key
    if request.method == "POST":
        end_chosen(request, user, key_to_keep=key if own else None)
        return redirect(request.path)
    listed = session_list.list_sessions(user, key if own else None)
    title = gettext("Sessions of %(name)s") % {"name": user.get_username()}
    return draw(
        request,
        "admin/sessions.html",
        gettext("Your sessions") if own else title,
        own=own,
        person=user,
        sessions=listed,
        others=sum(not one.own for one in listed),
    )


def end_chosen(request: StaffRequest, user: User, *, key_to_keep: str | None) -> None:
    """End the chosen sessions with a message; the current session ends only by signing out."""
    chosen = request.POST.get("end", "")
    if "all" in request.POST:
        ended = session_list.end_all(user, key_to_keep=key_to_keep, by=request.user)
    elif key_to_keep and chosen == session_digest(key_to_keep):
        ended = 0
    else:
        ended = session_list.end_one(user, chosen, by=request.user)
    if ended:
        text = ngettext("%(count)d session ended.", "%(count)d sessions ended.", ended)
        messages.success(request, text % {"count": ended})
    else:
        messages.info(request, gettext("No session ended: it was over already."))
