"""The request of somebody who is signed in at the desk."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


class StaffRequest(HttpRequest):
    """What the desk's own pages and actions get: `admin_view` lets nobody else in."""

    user: User


def staff(request: HttpRequest) -> User:
    """The user of a request that Django's hooks get. Raises PermissionDenied if there is none."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user
