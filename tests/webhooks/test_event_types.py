"""The registry: the order of types, its refusals, and names of unknown ids."""

from dataclasses import FrozenInstanceError, dataclass
from datetime import datetime
from pathlib import Path

import pytest

from webhooks.event_types import DuplicateEventType, EventType, Payload, Registry, registry

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Plain(EventType):
    def sample(self, company_id: int, tracking_number: str, now: datetime) -> Payload:
        return {}


def plain(id: int, name: str) -> EventType:
    return Plain(id=id, name=name, signed=False, description="", schema={})


@pytest.fixture
def types() -> Registry:
    types = Registry()
    types.register(plain(7, "seven"))
    types.register(plain(2, "two"), default=True)
    return types


def test_yields_types_in_the_order_of_their_ids(types: Registry) -> None:
    types.register(plain(5, "five"))

    assert [each.name for each in types] == ["two", "five", "seven"]


def test_knows_types_by_id_and_the_default(types: Registry) -> None:
    seven = types.get(7)

    assert seven is not None
    assert (seven.name, 7 in types, types.default.name) == ("seven", True, "two")


def test_an_unknown_id_has_a_name_to_show_and_no_type(types: Registry) -> None:
    assert (types.get(9), types.name(9), 9 in types) == (None, "event 9", False)


@pytest.mark.parametrize(
    ("event_type", "default", "reason"),
    [
        (plain(7, "other"), False, "other cannot have id 7: seven has it."),
        (plain(8, "seven"), False, "Event types 7 and 8 are both named seven."),
        (plain(8, "eight"), True, "eight cannot be the default: two is."),
    ],
)
def test_refuses_what_is_taken(
    types: Registry, event_type: EventType, default: bool, reason: str
) -> None:
    with pytest.raises(DuplicateEventType) as caught:
        types.register(event_type, default=default)

    assert str(caught.value) == reason
    assert [each.name for each in types] == ["two", "seven"]
    assert types.default.name == "two"


def test_forgets_a_type_and_with_it_the_default(types: Registry) -> None:
    types.unregister(types.default)

    assert [each.name for each in types] == ["seven"]
    with pytest.raises(LookupError, match="No event type is registered as the default"):
        _ = types.default


def test_a_type_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        registry.default.name = "other"  # type: ignore[misc]


def test_a_new_registry_is_empty() -> None:
    assert list(Registry()) == []


@pytest.mark.parametrize("file", ["webhooks/event_types.py", "webhooks/envelope.py"])
def test_the_registry_names_no_type_and_knows_no_app(file: str) -> None:
    text = (ROOT / file).read_text()

    assert [each.name for each in registry if each.name in text] == []
    assert [app for app in ("shipments", "tickets") if app in text] == []
