"""Isolation in every test of deliveries: no company sees another's events."""

from collections.abc import Iterator

import pytest

from deliveries.models import Delivery
from tests import builders as build
from tests.deliveries import worlds
from tests.deliveries.worlds import World
from tools.faults.receiver import Receiver

WITH_ROWS = {"db", "transactional_db"}


@pytest.fixture(autouse=True)
def nobody_sees_anothers_events(request: pytest.FixtureRequest) -> Iterator[None]:
    """Add a bystander: a company with two webhooks, for which nothing is published."""
    if not (WITH_ROWS & set(request.fixturenames) or request.node.get_closest_marker("django_db")):
        yield
        return
    request.getfixturevalue("db")
    bystander = build.company("Bystander")
    for type_id in worlds.TYPES:
        build.webhook(bystander, type_id, url="https://bystander.example.com/")
    has_receiver = "receiver" in request.fixturenames
    receiver = request.getfixturevalue("receiver") if has_receiver else None
    yield
    assert not Delivery.objects.filter(webhook__company=bystander).exists()
    worlds.check_rows()
    if receiver is not None:
        worlds.check_requests(receiver.log)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def world(db: None, receiver: Receiver) -> Iterator[World]:
    """Create two companies with two webhooks each."""
    world = worlds.make_world(receiver)
    yield world
    worlds.check_world(world)
