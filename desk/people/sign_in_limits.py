"""Limits of failed sign-ins, counted in the rows of django-axes.

A stranger's failure counts three times: for the name at the address, for the name from anywhere,
and for the address with any name. A failure on a device on which the account has signed in before
counts for that device alone. Why: decision page desk-signing-in.
"""

from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_ip_address
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import F, Q, Sum
from django.http import HttpRequest
from django.utils import timezone

from core.measures import catalogue, counting
from desk.people.known_devices import known_device

Credentials = dict[str, Any] | None

# Failures within AXES_COOLOFF_TIME. One person mistypes a name; many share an address.
OF_A_NAME = 10
OF_AN_ADDRESS = 20
# Stored as user agent of attempts that were refused before hashing.
NO_PLACE = "no place"


class SignInLimits(AxesDatabaseHandler):
    def get_failures(self, request: Any, credentials: Credentials = None) -> int:
        """Return failures, scaled so that reaching any of the limits gives AXES_FAILURE_LIMIT."""
        limit = settings.AXES_FAILURE_LIMIT
        name = username_of(credentials)
        if device := device_mark(request, name):
            return failures(request, Q(username=name, user_agent=device))
        address = Q(ip_address=request.axes_ip_address)
        return max(
            failures(request, Q(username=name) & address),
            failures(request, Q(username=name)) * limit // OF_A_NAME,
            failures(request, address) * limit // OF_AN_ADDRESS,
        )

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: Any = None, **kwargs: Any
    ) -> None:
        if request is not None:
            device = device_mark(request, username_of(credentials))
            request.axes_user_agent = device or request.axes_user_agent
        counting.count(catalogue.LOGINS_REFUSED)
        super().user_login_failed(sender, credentials, request, **kwargs)

    def reset_user_attempts(self, request: HttpRequest, credentials: Credentials = None) -> int:
        """Delete the failures of this name here after a success, and of no other name."""
        count: int = super().reset_user_attempts(request, credentials)
        name = username_of(credentials)
        if device := device_mark(request, name):
            count += AccessAttempt.objects.filter(username=name, user_agent=device).delete()[0]
        return count


def count_refused(request: HttpRequest, username: str) -> None:
    """Count an attempt that got no place for hashing, against its address alone.

    Known devices and signed-in users have a reserved place, so they are not counted.
    """
    if request.user.is_authenticated or known_device(request, username):
        return
    now = timezone.now()
    row, created = AccessAttempt.objects.get_or_create(
        username="",
        ip_address=get_client_ip_address(request),
        user_agent=NO_PLACE,
        defaults={"failures_since_start": 1},
    )
    if not created:
        lapsed = row.attempt_time < now - settings.AXES_COOLOFF_TIME
        AccessAttempt.objects.filter(pk=row.pk).update(
            failures_since_start=1 if lapsed else F("failures_since_start") + 1, attempt_time=now
        )


def failures(request: Any, condition: Q) -> int:
    since = request.axes_attempt_time - settings.AXES_COOLOFF_TIME
    rows = AccessAttempt.objects.filter(condition, attempt_time__gte=since)
    return rows.aggregate(n=Sum("failures_since_start"))["n"] or 0


def username_of(credentials: Credentials) -> str:
    return str((credentials or {}).get("username") or "")


def device_mark(request: HttpRequest, username: str) -> str | None:
    """Return the user agent under which failures of a known device are stored."""
    device = known_device(request, username)
    return device and f"known device {device}"
