"""View of POST /platform/feed: the shipping platform's feed over HTTP (decision N25)."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api import bundles
from companies.api.idempotency import REPLAYED, BadKey, Running, check_key
from companies.api.views import LimitReached, PlatformView, Refusal, StillRunning, Unprocessable
from shipments.api import feed_schema
from shipments.api.feed_bodies import FeedBody, read_body
from shipments.feed.bundles import LONGEST_SECONDS, TooLong, record_bundle
from shipments.feed.ingesting import Stopped, Tally

logger = logging.getLogger(__name__)

# Batches at once in a web process: the other six of its eight threads serve companies and the desk.
MOST_AT_ONCE = 2
batch_slots = BoundedSemaphore(MOST_AT_ONCE)


class BatchTooLong(Refusal):
    status_code = 413


class Interrupted(Refusal):
    status_code = 503
    wait = 5


@feed_schema.feed
class PlatformFeed(PlatformView):
    def post(self, request: Request) -> Response:
        key = request.headers.get("Idempotency-Key")
        body = read_body(request)
        with batch_slot():
            fingerprint = body.fingerprint()
            if key is None:
                return Response(record(body))
            return record_once(key, fingerprint, body)


@contextmanager
def batch_slot() -> Iterator[None]:
    """Occupy one of MOST_AT_ONCE slots. Raises LimitReached if none is free."""
    if not batch_slots.acquire(blocking=False):
        raise LimitReached(
            "Other batches are being recorded. Send them one after the other.",
            wait=2,
            code="feed_busy",
        )
    try:
        yield
    finally:
        batch_slots.release()


def record_once(key: str, fingerprint: str, body: FeedBody) -> Response:
    try:
        check_key(key)
        if (first_answer := bundles.begin_bundle(key, fingerprint)) is not None:
            return Response(first_answer, headers={REPLAYED: "true"})
    except BadKey as error:
        raise Unprocessable(str(error), code=error.code) from error
    except Running as error:
        raise StillRunning(str(error), code="idempotency_key_busy") from error
    try:
        return Response(bundles.answer_bundle(key, record(body, key)))
    except BaseException:
        bundles.release_bundle(key)
        raise


def record(body: FeedBody, key: str | None = None) -> dict[str, Any]:
    """Record the lines and return the answer. Raises BatchTooLong and Interrupted."""
    tally = Tally()

    def hold() -> None:
        if key is not None:
            bundles.renew_bundle_lease(key)

    try:
        bad = record_bundle(body.stream(), tally, hold)
    except TooLong as error:
        raise BatchTooLong(
            f"Recorded up to line {tally.reached} in {LONGEST_SECONDS:.0f} seconds. Send the lines "
            "behind it as further batches, smaller ones.",
            code="batch_too_long",
            reached=tally.reached,
        ) from error
    except Stopped as error:
        logger.exception("the platform's feed stopped after line %s", tally.reached)
        raise interrupted(tally) from error
    logger.info("the platform's feed: %s lines, %s of them bad", tally.read, tally.bad)
    return {
        "read": tally.read,
        "changed": tally.changed,
        "events": tally.events,
        "known": tally.repeats,
        "bad": bad,
        "bad_count": tally.bad,
    }


def interrupted(tally: Tally) -> APIException:
    return Interrupted(
        f"The database failed behind line {tally.reached}. Send the same batch again: what is "
        "recorded changes nothing.",
        code="database_unavailable",
        reached=tally.reached,
    )
