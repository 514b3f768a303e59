"""Operators' control of sending: hold a host, drain all loops, resume.

The state lies in rows, which each loop reads with its heartbeat, once a second, broker or not.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address

import idna
from django.db import connection, transaction
from django.utils import timezone

from core.jobs import doorbell
from deliveries.engine import setting_aside
from deliveries.models import Drain, Heartbeat, HeldHost
from webhooks.targets import host_in

# Webhooks that rest wake up after two seconds: by then all loops know the end of the hold. A rest
# does not say whether it comes of the hold or of failures, so only what the receiver asked for goes
# on. A receiver that is still silent costs one request, and rests again.
WAKE = """
WITH woken AS (
  UPDATE deliveries_health
  SET resting_until = greatest(statement_timestamp() + interval '2 seconds', asked_until)
  WHERE webhook_id = ANY(%s) AND resting_until > statement_timestamp()
  RETURNING webhook_id, resting_until
)
INSERT INTO deliveries_wakeup (webhook_id, due_at) SELECT webhook_id, resting_until FROM woken
"""


# A hold with an end lasts some weeks at most; for one without an end there is an alert on its age.
MOST_HOURS = 720
# A rough match: the caller compares the host of each URL.
ON_HOSTS = """
SELECT id, url FROM webhooks_webhook
WHERE num_nulls(deleted_at) = 1 AND lower(split_part(url, '/', 3)) LIKE ANY(%s)
"""
# A release waits for this lock, so that it finds all webhooks that rest because of the hold.
STILL_HELD = """
SELECT host::text FROM deliveries_heldhost
WHERE host = ANY(%s) AND coalesce(held_until > statement_timestamp(), true) FOR SHARE
"""


class InvalidHost(ValueError):
    """The text is no host. The message says what would be one."""


def parse_host(text: str) -> str:
    """Return the host in the form of URLs, without a port. Raises InvalidHost."""
    name = text.strip()
    try:
        return ip_address(name.strip("[]")).compressed
    except ValueError:
        pass
    try:
        return idna.encode(name.removesuffix("."), uts46=True).decode()
    except idna.IDNAError:
        raise InvalidHost(
            f"{text!r} is no host. Give a name such as hooks.example.com, or an address."
        ) from None


@transaction.atomic
def hold_host(
    text: str, *, by: str, reason: str = "", public_reason: str = "", hours: float | None = None
) -> HeldHost:
    """Pause a host for a number of hours, or until it is released. Raises InvalidHost.

    Requests in flight end. Deliveries to the host wait, in order, without using up retries.
    Companies read `public_reason`. A second call updates the settings and keeps the start time.
    """
    host = parse_host(text)
    now = timezone.now()
    HeldHost.objects.filter(held_until__lte=now).delete()
    values = {
        "by": by[:200],
        "reason": reason[:200],
        "public_reason": public_reason[:200],
        "held_until": None if hours is None else now + timedelta(hours=hours),
    }
    held_host, _ = HeldHost.objects.update_or_create(host=host, defaults=values)
    return held_host


@transaction.atomic
def release_host(text: str) -> bool:
    """Resume sending to a host; returns False if it was not held. Raises InvalidHost."""
    host = parse_host(text)
    released = HeldHost.objects.in_force().filter(pk=host).exists()
    HeldHost.objects.filter(pk=host).delete()
    with connection.cursor() as cursor:
        cursor.execute(WAKE, [list(webhooks_on([host]))])
    transaction.on_commit(ring_loops)
    return released


def patterns_of(host: str) -> list[str]:
    """Return LIKE patterns for the netloc of URLs to a host; they may match other hosts as well."""
    if ":" in host:
        return ["[%"]
    return [name + end for name in spellings(host) for end in ("", ":%")]


def spellings(host: str) -> set[str]:
    """Return the spellings of a host in URLs, in lower case; not for IPv6 addresses."""
    names = {host, idna.decode(host) if "xn--" in host else host}
    return names | {f"{name}." for name in names}


@transaction.atomic
def wait_for_hosts(webhooks: Mapping[int, str]) -> set[int]:
    """Postpone those webhooks whose hosts are still held, and return them.

    `webhooks`: hosts by id. The others were released after the caller's last heartbeat.
    """
    with connection.cursor() as cursor:
        cursor.execute(STILL_HELD, [sorted(set(webhooks.values()))])
        still_held = {host for (host,) in cursor.fetchall()}
    waiting = {id for id, host in webhooks.items() if host in still_held}
    if waiting:
        setting_aside.postpone(sorted(waiting))
    return waiting


def webhooks_on(hosts: Iterable[str]) -> dict[int, str]:
    """Return the hosts, by id, of webhooks that are not deleted and lead to one of `hosts`."""
    wanted = set(hosts)
    with connection.cursor() as cursor:
        cursor.execute(ON_HOSTS, [[pattern for host in wanted for pattern in patterns_of(host)]])
        candidates = {id: host_in(url) for id, url in cursor.fetchall()}
    return {id: host for id, host in candidates.items() if host in wanted}


def held_hosts() -> list[HeldHost]:
    """Return all hosts that are held, the longest held first."""
    return list(HeldHost.objects.in_force().order_by("held_at", "pk"))


@transaction.atomic
def drain_loops(*, by: str, reason: str = "") -> Drain:
    """Stop all loops from claiming until `resume_sending`. Requests in flight end."""
    drain, _ = Drain.objects.get_or_create(pk=1, defaults={"by": by[:200], "reason": reason[:200]})
    return drain


@transaction.atomic
def resume_sending() -> datetime | None:
    """End a drain; returns since when the loops were drained, or None if they were not."""
    drain = current_drain()
    Drain.objects.all().delete()
    transaction.on_commit(ring_loops)
    return drain.since if drain else None


def current_drain() -> Drain | None:
    return Drain.objects.first()


def requests_in_flight() -> int:
    """Return the number of requests of all live loops, as of their last heartbeats."""
    running = Heartbeat.objects.filter(lease_until__gt=timezone.now())
    return sum(running.values_list("busy", flat=True))


def ring_loops() -> None:
    """Wake up the loops at once; without a broker they notice within a second."""
    doorbell.ring("deliveries.tasks.deliver", expires=10)
