"""What generators of clients and linters need of GET /schema, whatever operations there are."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.described import Operation, description, operations, webhooks
from webhooks.event_types import registry

SCHEMAS = description()["components"]["schemas"]
EVERY = [pytest.param(each, id=str(each)) for each in operations()]


def members() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in SCHEMAS.items():
        for member, told in schema.get("properties", {}).items():
            yield f"{name}.{member}", told


def test_a_client_is_told_where_the_service_is() -> None:
    assert [server["url"] for server in description()["servers"]] == ["/"]


def test_the_requests_that_receivers_get_need_no_token_of_ours() -> None:
    told = [received for _, received in webhooks()]

    assert [received["security"] for received in told] == [[]] * len(told)
    names = [received["operationId"] for received in told]
    assert "receiveTrackingSimple" in names
    assert len(set(names)) == len(list(registry))


def test_no_member_has_a_default_that_makes_it_demanded() -> None:
    """Defaults are told in words: generators take such a member for one that is always there."""
    assert [name for name, told in members() if "default" in told] == []
    assert SCHEMAS["RegisterWebhookRequest"]["required"] == ["url"]
    assert (
        "Default: `1`." in SCHEMAS["RegisterWebhookRequest"]["properties"]["active"]["description"]
    )


def test_choices_formats_and_patterns_are_told() -> None:
    told = dict(members())

    types = told["RegisterWebhookRequest.type_id"]["enum"]
    assert types == [each.id for each in registry]
    for name in ("RegisterWebhookRequest.url", "ChangeWebhookRequest.url", "WebhookRow.url"):
        assert told[name]["format"] == "uri"
    assert told["SendSampleRequest.webhook_url"]["format"] == "uri"
    assert told["WindowRequest.since"]["format"] == "date-time"
    times = [each for name, each in told.items() if name.endswith("_at")]
    assert all("pattern" in each or each["format"] == "date-time" for each in times)


@pytest.mark.parametrize("operation", EVERY)
def test_every_answer_names_its_request(operation: Operation) -> None:
    for response in operation.responses.values():
        assert "X-Request-Id" in response["headers"]


@pytest.mark.parametrize("operation", EVERY)
def test_every_operation_needs_the_token(operation: Operation) -> None:
    assert operation.told["security"] == [{"bearerToken": []}]
