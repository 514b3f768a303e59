"""Ledger that compares a receiver's log with the published events."""

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from tools.faults.receiver import Received

# Shipment, and number among the shipment's events, which is the payload's `location`. The ledger
# identifies events by this, not by X-Webhook-Id: a lost event and a second id must not cancel out.
Event = tuple[int, int]


def verified(secret: str, received: Received) -> bool:
    """Verify a signature as receivers do, by code based on the interface alone."""
    name, stamp, signature = (
        received.headers.get(f"X-Webhook-{part}", "")
        for part in ("Event", "Timestamp", "Signature")
    )
    text = f"{stamp}.{name}.".encode() + received.body
    digest = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"v1={digest}", signature)


def event_in(body: bytes) -> Event:
    """Return the event in a tracking payload."""
    data = json.loads(body)["data"]
    return data["shipment_id"], int(data["location"])


def first_of_each(log: Iterable[Received]) -> list[Received]:
    """Return requests without repeats, in order of arrival."""
    by_event: dict[Event, Received] = {}
    for received in log:
        by_event.setdefault(event_in(received.body), received)
    return list(by_event.values())


def dishonest_repeats(log: Iterable[Received]) -> int:
    """Count repeats of an event with another id or other bytes, or of an id with another event.

    There must be none.
    """
    by_event: dict[Event, set[tuple[str, bytes]]] = defaultdict(set)
    by_id: dict[str, set[Event]] = defaultdict(set)
    for received in log:
        event, webhook_id = event_in(received.body), received.headers["X-Webhook-Id"]
        by_event[event].add((webhook_id, received.body))
        by_id[webhook_id].add(event)
    return sum(len(each) - 1 for groups in (by_event, by_id) for each in groups.values())


def out_of_order(log: Iterable[Received]) -> int:
    """Count tracking events that arrived after one of their shipment with a higher number."""
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
    """Summarize a webhook's tracking events; with its secret, verify every signature."""
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
    """Return seconds from `since`, in Unix time, until each of the events has arrived after it.

    The first arrival after `since` counts, even if the event had arrived before. Events that did
    not arrive again had been recorded by then. None if no event arrived.
    """
    arrivals: dict[Event, float] = {}
    for received in log:
        if received.at >= since and (event := event_in(received.body)) in events:
            arrivals.setdefault(event, received.at)
    return max(arrivals.values()) - since if arrivals else None


def arrived_before(log: Iterable[Received], events: Collection[Event], moment: float) -> int:
    """Count the events that had arrived before a moment in Unix time."""
    before = {event_in(received.body) for received in log if received.at < moment}
    return len(before.intersection(events))


def repeats_since(log: Iterable[Received], moment: float) -> int:
    """Count requests from a moment in Unix time on whose event had arrived before."""
    seen_events: set[Event] = set()
    repeats = 0
    for received in log:
        event = event_in(received.body)
        repeats += event in seen_events and received.at >= moment
        seen_events.add(event)
    return repeats
