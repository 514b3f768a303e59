"""Open pages wait for news without a thread: the event loop holds them until there is some."""

from typing import Any

import pytest

from config.door.patient import AT_MOST_SECONDS, PatientRequests, Waiting


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Loop:
    """An event loop without other work; requests are plain words."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.looks: list[list[str]] = []
        self.answered: list[str] = []
        self.patient = PatientRequests(
            lambda request: request.startswith("news"),
            lambda waiting: self.looks.append([one.request for one in waiting]),
            lambda _, request: self.answered.append(request),
        )
        self.patient.clock = self.clock

    def take(self, *requests: str) -> list[bool]:
        connection: Any = None
        return [self.patient.take(connection, request) for request in requests]

    def turn(self, seconds: float) -> None:
        self.clock.now += seconds
        self.patient.turn()

    def has_news(self, *requests: str) -> list[Waiting]:
        return [one for one in self.patient.waiting if one.request in requests]


@pytest.fixture
def loop() -> Loop:
    return Loop()


def test_only_patient_requests_wait(loop: Loop) -> None:
    assert loop.take("news of 1", "a page") == [True, False]


def test_requests_with_news_are_answered_and_others_wait(loop: Loop) -> None:
    loop.take("news of 1", "news of 2")
    loop.turn(1)
    assert loop.looks == [["news of 1", "news of 2"]]

    loop.patient.finish_look(loop.has_news("news of 2"))

    assert loop.answered == ["news of 2"]
    loop.turn(1)
    assert loop.looks[-1] == ["news of 1"]


def test_one_check_for_news_at_a_time_and_only_for_waiting_requests(loop: Loop) -> None:
    loop.turn(1)
    assert loop.looks == []

    loop.take("news of 1")
    for _ in range(5):
        loop.turn(1)
    assert len(loop.looks) == 1

    loop.patient.finish_look([])
    loop.turn(0.1)
    assert len(loop.looks) == 1
    loop.turn(1)
    assert len(loop.looks) == 2


def test_each_is_answered_once_at_its_time_at_the_latest(loop: Loop) -> None:
    loop.take("news of 1")
    due_pages = loop.has_news("news of 1")
    loop.turn(AT_MOST_SECONDS + 1)
    assert loop.answered == ["news of 1"]

    loop.patient.finish_look(due_pages)

    assert loop.answered == ["news of 1"]


def test_a_stop_answers_all_that_wait(loop: Loop) -> None:
    loop.take("news of 1", "news of 2")

    loop.patient.stop()

    assert loop.answered == ["news of 1", "news of 2"]
