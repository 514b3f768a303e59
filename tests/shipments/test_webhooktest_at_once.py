"""Test sends that hang occupy few web threads: the others are for everybody else."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.models import SampleSend
from deliveries.on_demand import sample_delivery
from tests.deliveries.hostile import Receiver
from tests.shipments.trying import PATH, tried

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.usefixtures("loopback")


def hang(number: int, *, company: int = 0, process: str = "another") -> None:
    """Record N test sends in flight, each of a company of its own unless one is given."""
    until = timezone.now() + timedelta(seconds=5)
    for each in range(number):
        of = company or 900_000 + each
        SampleSend.objects.create(company_id=of, process=process, until=until)


def send(api: APIClient, receiver: Receiver) -> HttpResponse:
    return api.post(PATH, {"tracking_number": "x", "webhook_url": receiver.url})


def refused(answer: HttpResponse) -> bool:
    if answer.status_code == 200:
        return False
    assert answer.status_code == 429
    assert answer.json()["meta"] == "error"
    assert answer.json()["error"]["code"] == 429
    assert answer.json()["error"]["reason"] == "test_send_limit"
    assert answer["Retry-After"] == "5"
    return True


def test_a_company_has_two_in_flight_and_another_is_free(
    api: APIClient, birch_api: APIClient, company: Company, listening: Receiver
) -> None:
    with ExitStack() as hanging:
        for _ in range(2):
            hanging.enter_context(sample_delivery.in_flight(company.pk))

        assert refused(send(api, listening))
        assert listening.requests == []
        assert not refused(send(birch_api, listening))

    assert not refused(send(api, listening))


def test_all_companies_together_have_eight(api: APIClient, listening: Receiver) -> None:
    hang(7)
    assert not refused(send(api, listening))

    hang(1)

    assert refused(send(api, listening))


def test_a_process_keeps_half_of_its_threads(api: APIClient, listening: Receiver) -> None:
    hang(3, process=sample_delivery.process_name())
    assert not refused(send(api, listening))

    hang(1, process=sample_delivery.process_name())

    assert refused(send(api, listening))
    web = re.search(r"^web: .*--threads (\d+)", (ROOT / "Procfile").read_text(), re.MULTILINE)
    assert web is not None
    assert int(web[1]) >= 2 * sample_delivery.PER_PROCESS


def test_what_a_killed_process_left_behind_is_forgotten(
    api: APIClient, company: Company, listening: Receiver
) -> None:
    hang(2, company=company.pk)
    SampleSend.objects.update(until=timezone.now())

    assert not refused(send(api, listening))

    assert not SampleSend.objects.exists()


def test_a_place_is_given_back_whatever_happens(
    api: APIClient, listening: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as broken:
        broken.setattr(sample_delivery, "send_one", break_down)
        assert send(api, listening).status_code == 500

    assert not SampleSend.objects.exists()
    assert tried(api, listening.url)["delivered"]


def test_a_url_that_may_not_be_is_told_so_even_then(api: APIClient, company: Company) -> None:
    hang(2, company=company.pk)

    answer = api.post(PATH, {"tracking_number": "x", "webhook_url": "ftp://hooks.example.com/"})

    assert answer.status_code == 400


@pytest.mark.usefixtures("rows_to_keep")
def test_simultaneous_test_sends_respect_the_limit() -> None:
    together = Barrier(6)

    def take(_: int) -> bool:
        together.wait()
        try:
            sample_delivery.take_place(1)
        except sample_delivery.TooManyTestSends:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(take, range(6)))

    assert sum(results) == sample_delivery.PER_COMPANY
