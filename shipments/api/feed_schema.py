"""Description of POST /platform/feed in GET /schema."""

from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import serializers

from companies.api.idempotency import OTHER_REQUEST, STILL_RUNNING
from core.api.schema import ANSWER_HEADERS, IDEMPOTENCY_KEY, header
from core.api.shapes import Error, shape
from shipments.api.feed_bodies import CONTENT_TYPES, FeedTooLarge
from shipments.feed.bundles import MOST_NAMED

TAG = "Platform"
LINES = (
    '{"kind": "shipment", "shipment_id": 4101, "company_id": 1,'
    ' "tracking_number": "TEST0004101", "carrier_name": "acme"}\n'
    '{"kind": "tracking", "shipment_id": 4101, "status": "Shipped"}\n'
)


class BadLineRow(serializers.Serializer[Any]):
    line = serializers.IntegerField(min_value=1)
    reason = serializers.CharField()


Recorded = shape(
    "Recorded",
    read=serializers.IntegerField(help_text="Lines that are not empty."),
    changed=serializers.IntegerField(help_text="Lines that changed something."),
    events=serializers.IntegerField(help_text="Changes of status and surcharges."),
    known=serializers.IntegerField(help_text="Lines that were recorded before."),
    bad=BadLineRow(many=True, help_text=f"The first {MOST_NAMED} lines that were rejected."),
    bad_count=serializers.IntegerField(help_text="All lines that were rejected."),
)
# By status: its description, and the code and message of an example.
REFUSALS = {
    400: ("The body is not valid gzip.", "invalid_gzip", "The body is not valid gzip."),
    401: (
        "The platform token is missing, unknown, expired or revoked. No company's token is taken.",
        "invalid_token",
        "This platform token is unknown, expired or revoked.",
    ),
    408: (
        "The body did not arrive within 120 seconds.",
        "body_timeout",
        "The body did not arrive in time.",
    ),
    409: (
        "The first request with this Idempotency-Key is still running.",
        "idempotency_key_busy",
        STILL_RUNNING,
    ),
    413: (
        "The lines are larger than 16 MiB, plain or unpacked; or, with the code `batch_too_long`,"
        " they could not be recorded within 50 seconds: `reached` is the last line that was.",
        "body_too_large",
        FeedTooLarge.default_detail,
    ),
    415: (
        f"The body is not {CONTENT_TYPES[0]}, or is packed by something else than gzip.",
        "unsupported_media_type",
        f"Send {CONTENT_TYPES[0]}, plain or packed by gzip.",
    ),
    422: (
        "The Idempotency-Key is invalid or was used for other lines.",
        "idempotency_key_reused",
        OTHER_REQUEST,
    ),
    429: (
        "Too many requests in this minute; or, with the code `feed_busy`, two other batches are"
        " being recorded. Try again after Retry-After seconds.",
        "feed_busy",
        "Other batches are being recorded. Send them one after the other.",
    ),
    503: (
        "The database is away. Send the same batch again after Retry-After seconds: what is"
        " recorded changes nothing.",
        "database_unavailable",
        "The service cannot reach its database. Try again in a few seconds.",
    ),
}
FeedRefusal = shape(
    "FeedRefusal",
    Error,
    reached=serializers.IntegerField(
        required=False, help_text="The last line that was recorded, where some were."
    ),
)


def refusal(status: int, about: str, code: str, message: str) -> OpenApiResponse:
    phrase = HTTPStatus(status).phrase
    body = {"statusCode": status, "error": phrase, "message": message, "code": code}
    return OpenApiResponse(FeedRefusal, about, [OpenApiExample(code, body)])


feed = extend_schema_view(
    post=extend_schema(
        operation_id="feed",
        summary="Take in lines of the platform's feed.",
        description="For the shipping platform, with a token of its own. A batch of JSON lines as"
        " the command `ingest` takes them, in order, at most 16 MiB, plain or packed by gzip. A"
        " line that was recorded before changes nothing; a bad line is reported and the others are"
        " recorded. The same Idempotency-Key within 24 hours gets the first answer again.",
        tags=[TAG],
        request={kind: {"type": "string"} for kind in CONTENT_TYPES[:2]},
        parameters=[
            IDEMPOTENCY_KEY,
            *ANSWER_HEADERS,
            header("Retry-After", "Seconds to wait before trying again.", [409, 429, 503]),
        ],
        responses={
            200: OpenApiResponse(
                Recorded,
                "Done.",
                [
                    OpenApiExample(
                        "answer",
                        {
                            "read": 3,
                            "changed": 2,
                            "events": 1,
                            "known": 0,
                            "bad": [{"line": 3, "reason": "status: missing"}],
                            "bad_count": 1,
                        },
                    )
                ],
            ),
            **{status: refusal(status, *example) for status, example in REFUSALS.items()},
        },
        examples=[
            OpenApiExample("two lines", LINES, request_only=True, media_type=CONTENT_TYPES[0])
        ],
    )
)
