"""What generators of clients and linters need of GET /schema, whatever operations there are."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from companies.models import Company
from tests.described import Operation, description, operations, webhooks
from webhooks.event_types import EventType, registry

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


def test_nothing_that_we_send_has_a_closed_list_of_what_may_grow() -> None:
    """A client made today must not fail at an event type, a status or a code of tomorrow."""
    sent = [
        *(part for each in operations() for part in each.responses.values()),
        *(received for _, received in webhooks()),
    ]

    assert [choices for part in sent for choices in closed(resolved(part))] == []
    known = SCHEMAS["WebhookRow"]["properties"]["type"]
    assert known["examples"] == [each.name for each in registry]
    assert "More may come." in known["description"]
    # What is asked of those who send stays closed.
    assert SCHEMAS["RegisterWebhookRequest"]["properties"]["type_id"]["enum"]


def resolved(part: Any) -> Any:
    """The part with what it refers to in its place."""
    if isinstance(part, list):
        return [resolved(each) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return resolved(SCHEMAS[part["$ref"].rpartition("/")[2]])
    return {name: resolved(each) for name, each in part.items() if name != "example"}


def closed(part: Any) -> Iterator[list[Any]]:
    """Lists of several values, but for flags. `examples` may hold anything."""
    if isinstance(part, list):
        for each in part:
            yield from closed(each)
    elif isinstance(part, dict):
        choices = part.get("enum")
        if isinstance(choices, list) and len({*choices} - {None}) > 1 and choices != [0, 1]:
            yield choices
        for name, each in part.items():
            if name != "examples":
                yield from closed(each)


@pytest.mark.parametrize("event_type", [pytest.param(each, id=each.name) for each in registry])
def test_a_payload_may_have_further_members(company: Company, event_type: EventType) -> None:
    (payload,) = [
        received["requestBody"]["content"]["application/json"]["schema"]
        for name, received in webhooks()
        if name == event_type.name
    ]
    event = event_type.sample(company.pk, "TEST1", timezone.now())
    for inside in [event, *(value for value in event.values() if isinstance(value, dict))]:
        inside["new"] = 1

    assert not [*Draft202012Validator(payload).iter_errors(event)]


@pytest.mark.parametrize("operation", EVERY)
def test_every_answer_names_its_request(operation: Operation) -> None:
    for response in operation.responses.values():
        assert "X-Request-Id" in response["headers"]


@pytest.mark.parametrize("operation", EVERY)
def test_every_operation_needs_the_token(operation: Operation) -> None:
    assert operation.spec["security"] == [{"bearerToken": []}]
