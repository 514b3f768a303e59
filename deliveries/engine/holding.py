"""What operators do to sending: hold a host, drain all loops, and go on.

Rows say it; each loop reads them with its heartbeat, once a second, with or without a broker.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address

import idna
from django.db import connection, transaction
from django.utils import timezone

from core.jobs import doorbell
from deliveries.engine import setting_aside
from deliveries.models import Drain, HeldHost, Loop
from webhooks.targets import host_in

# Webhooks that rest since their host was held are looked at once all loops know that it is not.
WAKE = """
WITH woken AS (
  UPDATE deliveries_health SET resting_until = statement_timestamp() + interval '2 seconds'
  WHERE resting_until > statement_timestamp() AND failures = 0
    AND webhook_id = ANY(ARRAY(SELECT id FROM webhooks_webhook
      WHERE num_nulls(deleted_at) = 1 AND lower(split_part(url, '/', 3)) LIKE ANY(%(hosts)s)))
  RETURNING webhook_id, resting_until
)
INSERT INTO deliveries_wakeup (webhook_id, due_at) SELECT webhook_id, resting_until FROM woken
"""


# A hold with an end is for weeks at most; one without has the alert that it is old.
MOST_HOURS = 720
# Looked at one by one, to have the port and the case of a URL right.
ON_HOSTS = """
SELECT id, url FROM webhooks_webhook
WHERE num_nulls(deleted_at) = 1 AND lower(split_part(url, '/', 3)) LIKE ANY(%s)
"""
# A release waits for this lock, and then finds the webhooks that rest for its host.
STILL_HELD = """
SELECT host::text FROM deliveries_heldhost
WHERE host = ANY(%s) AND coalesce(held_until > statement_timestamp(), true) FOR SHARE
"""


class NoHost(ValueError):
    """It does not name a host; the message says what does."""


def host_named(text: str) -> str:
    """The host as URLs have it, without its port. Raises NoHost."""
    given = text.strip()
    try:
        return ip_address(given.strip("[]")).compressed
    except ValueError:
        pass
    try:
        return idna.encode(given.removesuffix("."), uts46=True).decode()
    except idna.IDNAError:
        raise NoHost(
            f"{text!r} is no host. Give a name such as hooks.example.com, or an address."
        ) from None


@transaction.atomic
def hold_host(
    text: str, *, by: str, reason: str = "", public_reason: str = "", hours: float | None = None
) -> HeldHost:
    """Have nothing more sent to a host, for so many hours or until it is released. Raises NoHost.

    What is in flight ends. Deliveries to it wait, in order, and use up none of their retries.
    Companies read `public_reason`. Held again, it is held as said last, since it was held first.
    """
    host, now = host_named(text), timezone.now()
    HeldHost.objects.filter(held_until__lte=now).delete()
    said = {
        "by": by[:200],
        "reason": reason[:200],
        "public_reason": public_reason[:200],
        "held_until": None if hours is None else now + timedelta(hours=hours),
    }
    held, _ = HeldHost.objects.update_or_create(host=host, defaults=said)
    return held


@transaction.atomic
def release_host(text: str) -> bool:
    """Have what waits for a host sent; False where it was not held. Raises NoHost."""
    host = host_named(text)
    released = HeldHost.objects.in_force().filter(pk=host).exists()
    HeldHost.objects.filter(pk=host).delete()
    with connection.cursor() as cursor:
        cursor.execute(WAKE, {"hosts": patterns_of(host)})
    transaction.on_commit(ring_loops)
    return released


def patterns_of(host: str) -> list[str]:
    """Of what stands between the slashes of a URL that leads there; one that does not may fit."""
    if ":" in host:
        return ["[%"]
    return [name + end for name in spellings(host) for end in ("", ":%")]


def spellings(host: str) -> set[str]:
    """How URLs may write a host that is no address of version 6, in lower case."""
    names = {host, idna.decode(host) if "xn--" in host else host}
    return names | {f"{name}." for name in names}


@transaction.atomic
def wait_for_hosts(webhooks: Mapping[int, str]) -> set[int]:
    """Have webhooks, given with their hosts, wait while those are held; returns those that wait.

    The others' hosts were released after the caller's last heartbeat.
    """
    with connection.cursor() as cursor:
        cursor.execute(STILL_HELD, [sorted(set(webhooks.values()))])
        held = {host for (host,) in cursor.fetchall()}
    waiting = {id for id, host in webhooks.items() if host in held}
    if waiting:
        setting_aside.postpone(sorted(waiting))
    return waiting


def webhooks_on(hosts: Iterable[str]) -> dict[int, str]:
    """The webhooks whose URLs lead to one of these, by id, with the host; deleted ones are none."""
    wanted = set(hosts)
    with connection.cursor() as cursor:
        cursor.execute(ON_HOSTS, [[pattern for host in wanted for pattern in patterns_of(host)]])
        found = {id: host_in(url) for id, url in cursor.fetchall()}
    return {id: host for id, host in found.items() if host in wanted}


def held_hosts() -> list[HeldHost]:
    """All of them, the longest held first."""
    return list(HeldHost.objects.in_force().order_by("held_at", "pk"))


@transaction.atomic
def drain_loops(*, by: str, reason: str = "") -> Drain:
    """Have all loops claim nothing more and end what is in flight, until `resume_sending`."""
    kept, _ = Drain.objects.get_or_create(pk=1, defaults={"by": by[:200], "reason": reason[:200]})
    return kept


@transaction.atomic
def resume_sending() -> datetime | None:
    """Have the loops go on; returns since when they were drained, None where they were not."""
    kept = current_drain()
    Drain.objects.all().delete()
    transaction.on_commit(ring_loops)
    return kept.since if kept else None


def current_drain() -> Drain | None:
    return Drain.objects.first()


def requests_in_flight() -> int:
    """Requests of all loops that live, as each said with its last heartbeat."""
    running = Loop.objects.filter(lost=False, lease_until__gt=timezone.now())
    return sum(running.values_list("busy", flat=True))


def ring_loops() -> None:
    """So that they notice at once; without a broker they do within a second."""
    doorbell.ring("deliveries.tasks.deliver", expires=10)
