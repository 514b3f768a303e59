"""Lists of tickets saved under a name: who sees which, who may change which."""

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
# In the side bar. More is a list that nobody reads, and each is counted.
MOST_SHOWN = 12
FRESH_SECONDS = 60


class ViewItem(NamedTuple):
    """A view in the side bar. `size` is None where counting would cost too much."""

    view_id: int
    name: str
    query: str
    shared: bool
    size: int | None


def views_for(user: User) -> list[SavedView]:
    """One's own and those that are shared, by name; bounded."""
    seen = SavedView.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner")
    return list(seen[: MOST_OWN + MOST_SHARED])


def may_change(view: SavedView, user: User) -> bool:
    """One's own; what is shared is its owner's and that of whoever may share."""
    return view.owner_id == user.pk or (view.shared and user.has_perm("desk.share_view"))


def save_view(
    user: User, *, name: str, query: str, shared: bool, view: SavedView | None = None
) -> SavedView:
    """A new view, or one that is changed.

    Raises PermissionDenied, and ValidationError with what is wrong by field.
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
    kept = view or SavedView(owner=user)
    with transaction.atomic():
        # Two windows of one person do not save one too many.
        User.objects.select_for_update().get(pk=user.pk)
        if view is None and SavedView.objects.filter(owner=user).count() >= MOST_OWN:
            most = gettext("You already have %(most)d views. Delete one first.")
            raise ValidationError({"name": most % {"most": MOST_OWN}})
        kept.name, kept.shared = name, shared
        kept.query = clean_query(query)
        try:
            with transaction.atomic():
                kept.save()
        except IntegrityError as error:
            taken = gettext("There is already a view called “%(name)s”.")
            raise ValidationError({"name": taken % {"name": name}}) from error
    forget(user)
    return kept


def clean_query(query: str) -> str:
    """Without a page, or a place in the list."""
    given = QueryDict(ListPlace.read(query).query, mutable=True)
    given.pop("p", None)
    return given.urlencode()


def delete_view(user: User, view: SavedView) -> None:
    """Raises PermissionDenied."""
    if not may_change(view, user):
        raise PermissionDenied
    view.delete()
    forget(user)


def forget(user: User) -> None:
    """Whoever changed a view sees it at once; others within FRESH_SECONDS."""
    with suppress(Exception):  # whatever the cache's client calls "away"
        cache.delete(f"desk:views:{user.pk}")


def items_for(request: HttpRequest) -> list[ViewItem]:
    """For the side bar; at most FRESH_SECONDS old."""
    user = staff(request)
    found = cached(f"views:{user.pk}", FRESH_SECONDS, lambda: tuple(count_views(request)))
    return [ViewItem(*one) for one in found]


def count_views(request: HttpRequest) -> list[ViewItem]:
    shown = views_for(staff(request))[:MOST_SHOWN]
    return [
        ViewItem(one.pk, one.name, one.query, one.shared, count_of(request, one)) for one in shown
    ]


def count_of(request: HttpRequest, view: SavedView) -> int | None:
    """Of open tickets alone: over all tickets, or through a search, counting is no small thing."""
    opened = open_list(request, view.query)
    if opened.found is not None or not opened.queue.small:
        return None
    counted: int = opened.queryset.order_by().values("pk")[: queues.MOST_SHOWN + 1].count()
    return counted
