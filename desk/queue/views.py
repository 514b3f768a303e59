"""Saved views: lists of tickets under a name, and who may see and change them."""

from contextlib import suppress
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext

from desk.common.cache import cached
from desk.common.requests import staff
from desk.models import SavedView
from desk.queue import queues
from desk.queue.places import ListPlace
from desk.queue.walking import open_list

MOST_OWN = 30
MOST_SHARED = 30
# Views in the side bar: a longer list would not be read, and counting each costs a query.
MOST_SHOWN = 12
FRESH_SECONDS = 60


class ViewItem(NamedTuple):
    """A view in the side bar. `size` is None if counting would cost too much."""

    view_id: int
    name: str
    query: str
    shared: bool
    size: int | None


def views_for(user: User) -> list[SavedView]:
    """Return the user's own and the shared views by name, MOST_OWN + MOST_SHARED at most."""
    views = SavedView.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner")
    return list(views[: MOST_OWN + MOST_SHARED])


def may_change(view: SavedView, user: User) -> bool:
    """Check if the user owns the view, or it is shared and the user may share views."""
    return view.owner_id == user.pk or (view.shared and user.has_perm("desk.share_view"))


def save_view(
    user: User, *, name: str, query: str, shared: bool, view: SavedView | None = None
) -> SavedView:
    """Create a view, or change the one passed.

    Raises PermissionDenied, and ValidationError with messages by field.
    """
    if view is not None and not may_change(view, user):
        raise PermissionDenied
    if shared and not user.has_perm("desk.share_view"):
        raise PermissionDenied
    name = " ".join(name.replace("\x00", "").split())
    if not name:
        raise ValidationError({"name": gettext("Enter a name.")})
    if len(name) > 60:
        raise ValidationError({"name": gettext("Enter at most 60 characters.")})
    row = view or SavedView(owner=user)
    with transaction.atomic():
        # Two simultaneous requests of one user must not exceed MOST_OWN.
        User.objects.select_for_update().get(pk=user.pk)
        if view is None and SavedView.objects.filter(owner=user).count() >= MOST_OWN:
            most = gettext("You already have %(most)d views. Delete one first.")
            raise ValidationError({"name": most % {"most": MOST_OWN}})
        row.name, row.shared = name, shared
        row.query = clean_query(query)
        try:
            with transaction.atomic():
                row.save()
        except IntegrityError as error:
            text = gettext("There is already a view called “%(name)s”.")
            raise ValidationError({"name": text % {"name": name}}) from error
    forget(user)
    return row


def clean_query(query: str) -> str:
    """Normalize a list's query string, without a page or a place in the list."""
    parameters = QueryDict(ListPlace.read(query).query, mutable=True)
    parameters.pop("p", None)
    return parameters.urlencode()


def delete_view(user: User, view: SavedView) -> None:
    """Delete a view. Raises PermissionDenied."""
    if not may_change(view, user):
        raise PermissionDenied
    view.delete()
    forget(user)


def forget(user: User) -> None:
    """Drop a user's cached views; other users see a change within FRESH_SECONDS."""
    with suppress(Exception):  # whatever the cache's client calls "away"
        cache.delete(f"desk:views:{user.pk}")


def items_for(request: HttpRequest) -> list[ViewItem]:
    """Return the views of the side bar, at most FRESH_SECONDS old."""
    user = staff(request)
    rows = cached(f"views:{user.pk}", FRESH_SECONDS, lambda: tuple(count_views(request)))
    return [ViewItem(*row) for row in rows]


def count_views(request: HttpRequest) -> list[ViewItem]:
    views = views_for(staff(request))[:MOST_SHOWN]
    return [
        ViewItem(view.pk, view.name, view.query, view.shared, count_of(request, view))
        for view in views
    ]


def count_of(request: HttpRequest, view: SavedView) -> int | None:
    """Count a view's tickets; None over all tickets or through a search, which would be slow."""
    opened = open_list(request, view.query)
    if opened.matches is not None or not opened.queue.small:
        return None
    count: int = opened.queryset.order_by().values("pk")[: queues.MOST_SHOWN + 1].count()
    return count
