"""Guard and frame of every page of the desk."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse

from desk.common.requests import StaffRequest

VIEW_TICKET = "tickets.view_ticket"
CHANGE_TICKET = "tickets.change_ticket"
ASSIGN_TICKET = "tickets.assign_ticket"

Args = ParamSpec("Args")
View = Callable[Concatenate[HttpRequest, Args], HttpResponseBase]
StaffView = Callable[Concatenate[StaffRequest, Args], HttpResponseBase]


def desk_page(*needed: str, post_only: bool = False) -> Callable[[StaffView[Args]], View[Args]]:
    """Decorate a view to require the admin's login and every permission in `needed`.

    Others get 403. With `post_only`, every other method gets 405 before that.
    """

    def decorate(view: StaffView[Args]) -> View[Args]:
        @wraps(view)
        def guarded(
            request: HttpRequest, /, *args: Args.args, **kwargs: Args.kwargs
        ) -> HttpResponseBase:
            if post_only and request.method != "POST":
                return HttpResponseNotAllowed(["POST"])
            if not all(may(request.user, permission) for permission in needed):
                raise PermissionDenied
            return view(cast(StaffRequest, request), *args, **kwargs)

        return admin.site.admin_view(guarded)

    return decorate


def may(user: User | AnonymousUser, permission: str) -> bool:
    """Tell whether a user has a permission; as in the admin, a change permission implies view."""
    return user.has_perm(permission) or (
        ".view_" in permission and user.has_perm(permission.replace(".view_", ".change_"))
    )


def draw(
    request: HttpRequest, template: str, title: str, *, status: int = 200, **context: Any
) -> TemplateResponse:
    """Render a template in the admin's frame."""
    framed = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, template, framed, status=status)
