"""Requests of users who are signed in at the desk."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class StaffRequest(HttpRequest):
    """Request of the desk's own pages and actions; `admin_view` guarantees a signed-in user."""

    user: User


def staff(request: HttpRequest) -> User:
    """Return the user of a request in Django's hooks. Raises PermissionDenied if anonymous."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user
