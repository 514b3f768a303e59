"""Requirements of client generators and linters on GET /schema, whatever operations it has."""

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
        for member, member_schema in schema.get("properties", {}).items():
            yield f"{name}.{member}", member_schema


def test_a_client_is_told_where_the_service_is() -> None:
    assert [server["url"] for server in description()["servers"]] == ["/"]


def test_the_requests_that_receivers_get_need_no_token_of_ours() -> None:
    requests = [received for _, received in webhooks()]

    assert [received["security"] for received in requests] == [[]] * len(requests)
    names = [received["operationId"] for received in requests]
    assert "receiveTrackingSimple" in names
    assert len(set(names)) == len(list(registry))


def test_no_member_has_a_default_that_makes_it_demanded() -> None:
    """Describe defaults in words: generators treat a member with one as always present."""
    assert [name for name, member_schema in members() if "default" in member_schema] == []
    assert SCHEMAS["RegisterWebhookRequest"]["required"] == ["url"]
    assert (
        "Default: `1`." in SCHEMAS["RegisterWebhookRequest"]["properties"]["active"]["description"]
    )


def test_choices_formats_and_patterns_are_told() -> None:
    schemas = dict(members())

    types = schemas["RegisterWebhookRequest.type_id"]["enum"]
    assert types == [each.id for each in registry]
    for name in ("RegisterWebhookRequest.url", "ChangeWebhookRequest.url", "WebhookRow.url"):
        assert schemas[name]["format"] == "uri"
    assert schemas["SendSampleRequest.webhook_url"]["format"] == "uri"
    assert schemas["WindowRequest.since"]["format"] == "date-time"
    times = [each for name, each in schemas.items() if name.endswith("_at")]
    assert all("pattern" in each or each["format"] == "date-time" for each in times)


def test_nothing_that_we_send_has_a_closed_list_of_what_may_grow() -> None:
    """Leave the lists open: a client made today must not fail at a future type, status or code."""
    parts = [
        *(part for each in operations() for part in each.responses.values()),
        *(received for _, received in webhooks()),
    ]

    assert [choices for part in parts for choices in closed(resolved(part))] == []
    type_member = SCHEMAS["WebhookRow"]["properties"]["type"]
    assert type_member["examples"] == [each.name for each in registry]
    assert "More may come." in type_member["description"]
    # Lists in requests stay closed.
    assert SCHEMAS["RegisterWebhookRequest"]["properties"]["type_id"]["enum"]


def resolved(part: Any) -> Any:
    """Return the part with all references replaced."""
    if isinstance(part, list):
        return [resolved(each) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return resolved(SCHEMAS[part["$ref"].rpartition("/")[2]])
    return {name: resolved(each) for name, each in part.items() if name != "example"}


def closed(part: Any) -> Iterator[list[Any]]:
    """Yield lists of several values, except those of flags. `examples` may hold anything."""
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
