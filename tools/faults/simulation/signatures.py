"""Judge of signatures: each request is signed with a secret that its webhook had at that time.

This imports nothing of the service.
"""

import hashlib
import hmac
from collections.abc import Iterator

from tools.faults.simulation.book import ABOUT, SLACK, Book, Entry, Flight, webhook_at

# A delivery with a slot is sent within this time after the start of its claim.
CLAIMED_SECONDS = 0.5


def wrongly_signed(book: Book) -> Iterator[str]:
    """Check that each request is signed with the secret of its webhook at that time.

    A delivery that waits for a slot uses the secret read at its claim.
    """
    for flight in book.flights.values():
        webhook, signature = webhook_at(book, flight.url), flight.headers.get("X-Webhook-Signature")
        if webhook is None:
            continue
        if signature is None:
            yield f"flight {flight.number} is not signed"
            continue
        timestamp, event = flight.headers["X-Webhook-Timestamp"], flight.headers["X-Webhook-Event"]
        signed = f"{timestamp}.{event}.".encode() + flight.body.encode()
        secrets = secrets_at(book, webhook, flight.dialled, claimed_since(book, flight))
        fits = [
            secret
            for secret in secrets
            if hmac.compare_digest(
                signature.rpartition("=")[2],
                hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(),
            )
        ]
        if not fits and "anything" not in secrets:
            yield f"flight {flight.number} to {flight.url} is signed with another secret"


def claimed_since(book: Book, flight: Flight) -> float:
    """Return the earliest time at which a flight may have been claimed.

    It waited while other requests to its host were in flight, or during a fault.
    """
    since = flight.dialled
    if book.clock_moves or book.troubled(flight.loop, since - ABOUT, since):
        return since - ABOUT
    host = flight.url.split("/")[2]
    for other in sorted(book.flights.values(), key=lambda each: each.dialled, reverse=True):
        if other.url.split("/")[2] != host or other.dialled >= since:
            continue
        if (other.ended if other.ended is not None else since) + CLAIMED_SECONDS >= since:
            since = min(since, other.dialled)
    return since - CLAIMED_SECONDS


def secrets_at(book: Book, webhook: Entry, at: float, claimed: float) -> set[str]:
    """Return the secrets that may sign at a time: the current one, and one being rotated."""
    now, coming, since, until = {webhook["secret"]}, "", 1e9, 1e9
    early = ABOUT if book.clock_moves else SLACK
    secrets: set[str] = set()
    for act in [*book.acts, {"act": "rotate", "began": 1e9, "at": 1e9, "how": "end"}]:
        if act["act"] != "rotate" or act.get("webhook", webhook["webhook"]) != webhook["webhook"]:
            continue
        # Between begin and end of the rotation, either secret may be in use.
        if act["at"] >= claimed:
            secrets |= now if claimed <= until else set()
            secrets |= {coming} if at >= since - early else set()
        if act["began"] > at + ABOUT:
            break
        if act["how"] == "unsure":
            return {*now, coming, act.get("secret", ""), "anything"}
        if until <= act["began"]:
            now = {coming}
        elif since <= act["at"]:
            # The rotations overlap: the coming secret was in use by then, or never will be.
            now |= {coming}
        wait = act.get("activates_in", 0)
        coming, since, until = act.get("secret", ""), act["began"] + wait, act["at"] + wait
    return secrets
