"""Compares the receiver's log with what was published."""

import hashlib
import hmac
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from faults.receiver import Received


def verified(secret: str, received: Received) -> bool:
    """Verify a signature as receivers do: written from the interface, not from our own code."""
    name, stamp = (received.headers[f"X-Webhook-{part}"] for part in ("Event", "Timestamp"))
    text = f"{stamp}.{name}.".encode() + received.body
    digest = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"v1={digest}", received.headers["X-Webhook-Signature"])


def first_of_each(log: Iterable[Received]) -> list[Received]:
    """Signed requests without repeats, in the order of arrival."""
    seen = {}
    for received in log:
        seen.setdefault(received.headers["X-Webhook-Id"], received)
    return list(seen.values())


def dishonest_repeats(log: Iterable[Received]) -> int:
    """How many requests repeat an id with a different body; there must be none."""
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for received in log:
        bodies[received.headers["X-Webhook-Id"]].add(received.body)
    return sum(len(each) - 1 for each in bodies.values())


def out_of_order(log: Iterable[Received]) -> int:
    """How many tracking events came after a later one of their shipment (by `location`)."""
    latest: dict[int, int] = {}
    wrong = 0
    for received in log:
        data = json.loads(received.body)["data"]
        number = int(data["location"])
        wrong += number < latest.get(data["shipment_id"], -1)
        latest[data["shipment_id"]] = max(number, latest.get(data["shipment_id"], -1))
    return wrong


def summary(log: list[Received], expected: int) -> dict[str, Any]:
    """The figures of one webhook of signed tracking events."""
    unique = first_of_each(log)
    repeats = Counter(received.headers["X-Webhook-Id"] for received in log)
    return {
        "expected": expected,
        "received": len(unique),
        "lost": expected - len(unique),
        "repeats": sum(count - 1 for count in repeats.values()),
        "dishonest_repeats": dishonest_repeats(log),
        "out_of_order": out_of_order(unique),
    }
