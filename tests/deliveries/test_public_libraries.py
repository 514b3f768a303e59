"""Our signatures, checked with the libraries that companies verify them with."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import standardwebhooks.webhooks
import svix.webhooks
from rest_framework.test import APIClient

from companies.models import Company
from tests.sending import deliver
from tools.faults.receiver import Answer, Received, Receiver
from webhooks.event_types import registry
from webhooks.targets import Policy

LIBRARIES = {
    "standardwebhooks": standardwebhooks.webhooks,
    "svix": svix.webhooks,
}
SIGNED = [each for each in registry if each.signed]
# Characters that change if somebody parses and serializes the body again.
HARD = "León · “ñ” 😀 </b> \\ / \u2028 12.50"


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Any:
    return LIBRARIES[request.param]


def is_taken(library: Any, secret: str, received: Received, body: bytes | None = None) -> bool:
    headers = {name.lower(): value for name, value in received.headers.items()}
    try:
        library.Webhook(secret).verify((received.body if body is None else body).decode(), headers)
    except library.WebhookVerificationError:
        return False
    return True


def is_signed_rightly(library: Any, secret: str, received: Received) -> bool:
    """Compare the signature with the library's own, however old it is."""
    headers = received.headers
    time = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    signed: str = library.Webhook(secret).sign(headers["webhook-id"], time, received.body.decode())
    return signed == headers["webhook-signature"]


def tampered(received: Received) -> Iterator[bytes]:
    body = received.body
    yield body + b" "
    yield body.replace(b":", b": ", 1)
    for place in (1, len(body) // 2, len(body) - 2):
        yield body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


def posted(api: APIClient, path: str, body: dict[str, Any]) -> Any:
    answer = api.post(path, body)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def play(api: APIClient) -> None:
    """Cause an event of every signed type, with texts that are hard to transmit."""
    names = ("shop_id", "order_identifier", "order_number", "order_name")
    order = {name: HARD for name in names}
    answer = posted(api, "/test/shipments", {"carrier_name": "Ñandú 😀", "order": order})
    shipment = answer["data"]["shipment_id"]
    path = f"/test/shipments/{shipment}/events"
    posted(api, path, {"kind": "tracking", "status": "Delivered", "location": HARD})
    charge = {"kind": "surcharge", "surcharge_type": HARD, "currency": "MXN", "reason": HARD}
    for amount in (250, 12.5):
        posted(api, path, {**charge, "amount": amount, "transaction_type": "surcharge"})
    ticket = posted(api, "/company/tickets", {"type_id": 5, "shipment_id": shipment})["id"]
    move = {"ticket_status_id": 4, "reason": HARD, "requested_documents": [HARD]}
    posted(api, f"/test/tickets/{ticket}/move", move)


def test_every_signed_type_is_verified_and_what_is_changed_is_not(
    api: APIClient, company: Company, receiver: Receiver, loopback: Policy, library: Any
) -> None:
    secrets = {}
    for each in SIGNED:
        body = {"type_id": each.id, "url": receiver.url, "standard_headers": 1}
        secrets[each.name] = posted(api, "/webhooks", body)["data"]["standard_secret"]
    play(api)

    deliver(loopback)

    assert {each.id for each in SIGNED} >= {3, 4, 5, 6}
    assert {each.headers["X-Webhook-Event"] for each in receiver.log} == set(secrets)
    assert any(not each.body.isascii() for each in receiver.log)
    for received in receiver.log:
        secret = secrets[received.headers["X-Webhook-Event"]]
        assert is_taken(library, secret, received)
        changed = [is_taken(library, secret, received, body) for body in tampered(received)]
        assert not any(changed)
        others = [each for each in secrets.values() if each != secret]
        assert not [each for each in others if is_taken(library, each, received)]


@pytest.mark.parametrize("event_type", [pytest.param(each, id=each.name) for each in SIGNED])
def test_of_the_signed_test_only_the_first_request_is_taken(
    api: APIClient, receiver: Receiver, loopback: Policy, library: Any, event_type: Any
) -> None:
    body = {"type_id": event_type.id, "url": receiver.url, "standard_headers": 1}
    created = posted(api, "/webhooks", body)["data"]
    secret = created["standard_secret"]
    receiver.answer = lambda received: Answer(200 if is_taken(library, secret, received) else 401)

    tried = posted(api, f"/webhooks/{created['id']}/test", {})["data"]

    assert (tried["delivered"], tried["rejects_tampered"], tried["advice"]) == (True, True, [])
    genuine, changed, old = receiver.log
    assert [is_taken(library, secret, each) for each in receiver.log] == [True, False, False]
    # The old request is refused for its age alone.
    signed = [is_signed_rightly(library, secret, each) for each in (genuine, changed, old)]
    assert signed == [True, False, True]
