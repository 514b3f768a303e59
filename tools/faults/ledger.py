"""Compares the receiver's log with what was published."""

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from tools.faults.receiver import Received

# The shipment and its number among the shipment's events, which a payload has in `location`. The
# ledger goes by this, not by X-Webhook-Id: a lost event and a second id must not cancel out.
Event = tuple[int, int]


def verified(secret: str, received: Received) -> bool:
    """Verify a signature as receivers do: written from the interface, not from our own code."""
    name, stamp, signature = (
        received.headers.get(f"X-Webhook-{part}", "")
        for part in ("Event", "Timestamp", "Signature")
    )
    text = f"{stamp}.{name}.".encode() + received.body
    digest = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"v1={digest}", signature)


def event_in(body: bytes) -> Event:
    """The event that a tracking payload tells of."""
    data = json.loads(body)["data"]
    return data["shipment_id"], int(data["location"])


def first_of_each(log: Iterable[Received]) -> list[Received]:
    """Requests without the repeats, in order of arrival."""
    seen: dict[Event, Received] = {}
    for received in log:
        seen.setdefault(event_in(received.body), received)
    return list(seen.values())


def dishonest_repeats(log: Iterable[Received]) -> int:
    """Requests that repeat an event with another id or other bytes, or an id with another event.

    There must be none.
    """
    by_event: dict[Event, set[tuple[str, bytes]]] = defaultdict(set)
    by_id: dict[str, set[Event]] = defaultdict(set)
    for received in log:
        event, webhook_id = event_in(received.body), received.headers["X-Webhook-Id"]
        by_event[event].add((webhook_id, received.body))
        by_id[webhook_id].add(event)
    return sum(len(each) - 1 for seen in (by_event, by_id) for each in seen.values())


def out_of_order(log: Iterable[Received]) -> int:
    """Tracking events whose number is lower than one that their shipment had before."""
    latest: dict[int, int] = {}
    wrong = 0
    for received in log:
        shipment_id, number = event_in(received.body)
        wrong += number < latest.get(shipment_id, -1)
        latest[shipment_id] = max(number, latest.get(shipment_id, -1))
    return wrong


def summary(
    log: Iterable[Received], expected: Collection[Event], secret: str | None = None
) -> dict[str, Any]:
    """One webhook's ledger of tracking events; with its secret, every signature is checked."""
    log = list(log)
    checked = {"badly_signed": sum(not verified(secret, each) for each in log)} if secret else {}
    unique = first_of_each(log)
    arrived = {event_in(received.body) for received in unique}
    return {
        "expected": len(expected),
        "received": len(arrived),
        "lost": len(set(expected) - arrived),
        "unexpected": len(arrived - set(expected)),
        "repeats": len(log) - len(unique),
        "dishonest_repeats": dishonest_repeats(log),
        "out_of_order": out_of_order(unique),
        **checked,
    }


def seconds_until_last(
    log: Iterable[Received], events: Collection[Event], since: float
) -> float | None:
    """Seconds from `since`, in Unix time, until each of the events has arrived after it.

    The first arrival after `since` counts, whether the event had arrived before or not. Events
    that did not arrive again had been recorded by then. None where no event arrived.
    """
    found: dict[Event, float] = {}
    for received in log:
        if received.at >= since and (event := event_in(received.body)) in events:
            found.setdefault(event, received.at)
    return max(found.values()) - since if found else None


def arrived_before(log: Iterable[Received], events: Collection[Event], moment: float) -> int:
    """How many of the events had arrived at a moment in Unix time."""
    before = {event_in(received.body) for received in log if received.at < moment}
    return len(before.intersection(events))


def repeats_since(log: Iterable[Received], moment: float) -> int:
    """Requests from a moment in Unix time on whose event had arrived before."""
    seen: set[Event] = set()
    repeats = 0
    for received in log:
        event = event_in(received.body)
        repeats += event in seen and received.at >= moment
        seen.add(event)
    return repeats
