"""The page of saved views, and the forms that save, change and delete them."""

from typing import cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext

from core.values.ids import read_id
from desk.common.admin_base import ModelAdmin
from desk.common.requests import StaffRequest, staff
from desk.models import SavedView
from desk.queue import views
from desk.queue.places import LIST, ListPlace


class ViewPages(ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.views_page)
        return [path("views/", page, name="tickets_ticket_views"), *super().get_urls()]

    def views_page(self, request: HttpRequest) -> HttpResponse:
        """GET lists; POST saves the list that the form names, or changes or deletes a view."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self.show_views(request)
        user, sent = cast(StaffRequest, request).user, request.POST
        number = sent.get("view", "")
        visible = SavedView.objects.filter(pk__in=[one.pk for one in views.views_for(user)])
        view = get_object_or_404(visible, pk=read_id(number)) if number else None
        if view is not None and "delete" in sent:
            views.delete_view(user, view)
            text = gettext("View “%(name)s” deleted.")
            messages.success(request, text % {"name": view.name})
            return redirect("admin:tickets_ticket_views")
        query = view.query if view else sent.get("list", "")
        try:
            saved = views.save_view(
                user,
                name=sent.get("name", ""),
                query=query,
                shared="shared" in sent,
                view=view,
            )
        except ValidationError as error:
            return self.show_views(request, error.message_dict, status=400)
        messages.success(request, gettext("View “%(name)s” saved.") % {"name": saved.name})
        return redirect(f"{reverse(LIST)}?{saved.query}" if saved.query else reverse(LIST))

    def show_views(
        self, request: HttpRequest, errors: dict[str, list[str]] | None = None, status: int = 200
    ) -> HttpResponse:
        user, sent = staff(request), request.POST
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Saved views"),
            "views": [(one, views.may_change(one, user)) for one in views.views_for(user)],
            "may_share": user.has_perm("desk.share_view"),
            "place": ListPlace.read(sent.get("list", "") or request.GET.get("list", "")),
            "errors": errors or {},
            "sent": sent,
        }
        return TemplateResponse(request, "admin/tickets/ticket/views.html", context, status=status)
