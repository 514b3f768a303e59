"""The signature of an attempt is shown only if it is known for certain."""

from datetime import timedelta

import pytest
from django.utils import timezone

from companies.models import Company
from deliveries.engine import signature_check
from deliveries.engine.signing import sign
from deliveries.http.answers import Failure
from deliveries.models import Attempt
from tests import builders as build
from webhooks.models import Webhook

OLD, NEW, BODY = "5e" * 32, "6f" * 32, b"{}"


@pytest.fixture
def webhook(company: Company) -> Webhook:
    return build.webhook(company, secret=OLD)


@pytest.mark.parametrize(
    ("rotated", "secret"),
    [
        (None, OLD),
        (timedelta(hours=-1), NEW),
        # The claim may have read the old one, shortly before the attempt began.
        (timedelta(seconds=-5), None),
        (timedelta(seconds=5), None),
        # Unknown: whether there was an earlier one is forgotten.
        (timedelta(days=2), None),
    ],
)
def test_signature_uses_the_secret_of_that_time(
    webhook: Webhook, rotated: timedelta | None, secret: str | None
) -> None:
    now = timezone.now()
    attempt = Attempt(started_at=now - timedelta(days=1), error="")
    if rotated is not None:
        webhook.next_secret, webhook.next_secret_at = NEW, attempt.started_at + rotated

    recreated = signature_check.recreate_signature(webhook, BODY, attempt, now)

    if secret is None:
        assert recreated is None
    else:
        timestamp, signature = recreated
        assert signature == sign(secret, int(timestamp), "tracking.simple", BODY)


def test_attempt_without_a_request_has_no_signature(webhook: Webhook, company: Company) -> None:
    now = timezone.now()
    unsigned = build.webhook(company, type_id=1)

    never = Attempt(started_at=now, error=Failure.INTERNAL)
    assert signature_check.recreate_signature(webhook, BODY, never, now) is None
    assert (
        signature_check.recreate_signature(unsigned, BODY, Attempt(started_at=now, error=""), now)
        is None
    )
