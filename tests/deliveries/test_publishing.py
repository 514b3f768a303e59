import pytest
from celery import current_app
from pytest_django import DjangoCaptureOnCommitCallbacks
from redis.exceptions import ResponseError

from companies.models import Company
from deliveries import doorbell, publishing
from deliveries.models import Delivery, Event, State
from tests import builders as build
from webhooks import services


def test_writes_a_delivery_for_each_webhook_of_the_type(company: Company, birch: Company) -> None:
    listening = [build.webhook(company), build.webhook(company, active=False)]
    build.webhook(company, type_id=5)
    build.webhook(birch)

    count = publishing.publish([build.news(company, 7)])

    event = Event.objects.get()
    assert count == 2
    assert bytes(event.body) == b'{"type":"tracking.simple","data":{"shipment_id":7}}'
    assert (event.company, event.shipment_id, event.tracking_number) == (company, 7, "TRACK7")
    deliveries = Delivery.objects.order_by("webhook_id")
    assert [delivery.webhook for delivery in deliveries] == listening
    assert {(each.state, each.attempts, each.event_id) for each in deliveries} == {
        (State.WAITING, 0, event.pk)
    }


def test_stores_no_event_that_nobody_listens_to(company: Company) -> None:
    services.delete_webhook(company, build.webhook(company).pk)

    assert publishing.publish([build.news(company)]) == 0
    assert not Event.objects.exists()


def test_keeps_the_order_of_the_news(company: Company) -> None:
    build.webhook(company)

    publishing.publish([build.news(company, n % 7, body=str(n).encode()) for n in range(200)])

    bodies = [int(bytes(event.body)) for event in Event.objects.order_by("pk")]
    assert bodies == list(range(200))


def test_rings_once_the_fact_is_committed(
    company: Company,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    build.webhook(company)
    rings: list[int] = []
    monkeypatch.setattr(doorbell, "ring_engine", lambda: rings.append(1))

    with django_capture_on_commit_callbacks(execute=True):
        publishing.publish([build.news(company)])
        assert rings == []

    assert rings == [1]


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(),
        ResponseError("NOREPLICAS Not enough good replicas to write."),
        # The error that kombu raises once a channel has failed on such an answer.
        AttributeError("'NoneType' object has no attribute 'client'"),
    ],
)
def test_a_broker_that_is_away_or_refuses_harms_nobody(
    error: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def silent(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(current_app, "send_task", silent)
    monkeypatch.setattr(doorbell, "_last_ring", 0.0)

    doorbell.ring_engine()

    assert "deliveries.tasks.deliver will run without it" in caplog.text


@pytest.mark.parametrize("text", ["León", "日本", "a/b", '"', "\u2028"])
def test_encodes_compactly_and_in_utf_8(text: str) -> None:
    escaped = text.replace('"', '\\"')
    assert publishing.encode({"a": text, "b": [1, 2]}) == f'{{"a":"{escaped}","b":[1,2]}}'.encode()
