"""The page of saved views, and the forms that save, change and delete them."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext

from core.values.ids import read_id
from desk.common.pages import CHANGE_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from desk.models import SavedView
from desk.queue import views
from desk.queue.places import LIST, list_place


@desk_page(CHANGE_TICKET)
def views_page(request: StaffRequest) -> HttpResponse:
    """List the saved views (GET), or save, change or delete one (POST)."""
    if request.method != "POST":
        return show_views(request)
    user = request.user
    data = request.POST
    number = data.get("view", "")
    visible = SavedView.objects.filter(pk__in=[one.pk for one in views.views_for(user)])
    view = get_object_or_404(visible, pk=read_id(number)) if number else None
    if view is not None and "delete" in data:
        views.delete_view(user, view)
        text = gettext("View “%(name)s” deleted.")
        messages.success(request, text % {"name": view.name})
        return redirect("admin:tickets_ticket_views")
    query = view.query if view else data.get("list", "")
    try:
        saved = views.save_view(
            user,
            name=data.get("name", ""),
            query=query,
            shared="shared" in data,
            view=view,
        )
    except ValidationError as error:
        return show_views(request, error.message_dict, status=400)
    messages.success(request, gettext("View “%(name)s” saved.") % {"name": saved.name})
    return redirect(f"{reverse(LIST)}?{saved.query}" if saved.query else reverse(LIST))


def show_views(
    request: StaffRequest, errors: dict[str, list[str]] | None = None, status: int = 200
) -> HttpResponse:
    user = request.user
    return draw(
        request,
        "admin/tickets/ticket/views.html",
        gettext("Saved views"),
        status=status,
        views=[(one, views.may_change(one, user)) for one in views.views_for(user)],
        may_share=user.has_perm("desk.share_view"),
        place=list_place(request),
        errors=errors or {},
        sent=request.POST,
    )
