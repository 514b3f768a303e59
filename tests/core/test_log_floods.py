"""A line that repeats is written when it begins and when it ends, with the count."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from config import logs
from core.watch import log_floods
from core.watch.log_floods import MOST_LINES, FloodFilter
from tests.config.test_settings import variables
from tests.test_architecture import ROOT


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.left_out: list[int] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        if getattr(record, "left_out", None):
            self.left_out.append(record.left_out)  # type: ignore[attr-defined]


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock of floods, and keep their thread from running."""
    time = [1000.0]
    monkeypatch.setattr(FloodFilter, "clock", staticmethod(lambda: time[0]))
    monkeypatch.setattr(FloodFilter, "begin_watching", lambda self: None)
    return time


@pytest.fixture
def floods() -> FloodFilter:
    return FloodFilter()


@pytest.fixture
def lines(floods: FloodFilter) -> Iterator[Lines]:
    handler, logger = Lines(), logging.getLogger("flooding")
    handler.addFilter(floods)
    logger.addHandler(handler)
    logger.propagate = False
    yield handler
    logger.propagate = True
    logger.removeHandler(handler)


def test_a_flood_is_its_beginning_and_its_end(
    floods: FloodFilter, lines: Lines, now: list[float]
) -> None:
    for number in range(7653):
        logging.getLogger("flooding").error("refused, again in %.2f s (%d/100)", number, number)
        now[0] += 0.015
    assert len(lines.texts) == MOST_LINES + 1
    assert lines.texts[-1].startswith("more such lines are left out until they end: refused, again")

    assert floods.say_what_ended()
    now[0] += 31
    assert not floods.say_what_ended()

    count = 7653 - MOST_LINES
    assert lines.texts[MOST_LINES + 1 :] == [
        f"{count} more such lines in 115 s: refused, again in 0.00 s (0/100)"
    ]
    assert lines.left_out == [count]


def test_another_line_is_written_meanwhile(lines: Lines, now: list[float]) -> None:
    logger = logging.getLogger("flooding")
    for _ in range(100):
        logger.error("refused")
    logger.error("the disk is full")
    logger.warning("refused")

    assert lines.texts[-2:] == ["the disk is full", "refused"]


def test_slow_repetition_is_no_flood(lines: Lines, now: list[float]) -> None:
    for _ in range(100):
        logging.getLogger("flooding").error("refused")
        now[0] += 15

    assert len(lines.texts) == 100


def test_ongoing_flood_is_reported_each_hour(
    floods: FloodFilter, lines: Lines, now: list[float]
) -> None:
    for _ in range(7300):
        logging.getLogger("flooding").error("refused")
        floods.say_what_ended()
        now[0] += 1

    assert len(lines.texts) == MOST_LINES + 1 + 2


def test_flood_can_start_again(floods: FloodFilter, lines: Lines, now: list[float]) -> None:
    for _ in range(2):
        for _ in range(100):
            logging.getLogger("flooding").error("refused")
        now[0] += 31
        floods.say_what_ended()

    assert len(lines.texts) == 2 * (MOST_LINES + 2)


@pytest.mark.parametrize("name", log_floods.OTHERS)
def test_bounded_lines_are_not_filtered(name: str, floods: FloodFilter, now: list[float]) -> None:
    record = logging.LogRecord(name, logging.INFO, "", 1, "GET /webhooks 200", (), None)

    assert all(floods.filter(record) for _ in range(100))


def test_many_kinds_of_lines_are_not_remembered_for_ever(
    floods: FloodFilter, now: list[float]
) -> None:
    for number in range(5000):
        text = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        floods.filter(logging.LogRecord("a", logging.INFO, "", 1, text, (), None))

    assert len(floods.kinds) <= log_floods.MOST_KINDS


def test_a_child_counts_its_own(floods: FloodFilter, lines: Lines, now: list[float]) -> None:
    for _ in range(100):
        logging.getLogger("flooding").error("refused")
    floods.forget()
    count = len(lines.texts)

    floods.end()

    assert len(lines.texts) == count


def test_a_thread_says_the_end(
    monkeypatch: pytest.MonkeyPatch, floods: FloodFilter, lines: Lines
) -> None:
    monkeypatch.setattr(log_floods, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(log_floods, "LOOK_EVERY_SECONDS", 0.0)
    for _ in range(MOST_LINES + 1):
        logging.getLogger("flooding").error("refused")
    for thread in threading.enumerate():
        if thread.name == "log floods":
            thread.join()

    assert "1 more such lines in 0 s: refused" in lines.texts


def test_every_process_writes_floods_so() -> None:
    """Include one that ends in the middle of a flood."""
    program = (
        "import django, logging; django.setup()\n"
        "for _ in range(300): logging.getLogger('celery').error('refused')"
    )
    environment = os.environ | variables(LOG_FORMAT="json")
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True
    )

    records = [json.loads(line) for line in ended.stderr.splitlines()]
    assert len(records) == MOST_LINES + 2, ended.stderr
    assert records[-1]["left_out"] == 300 - MOST_LINES
    assert records[-1]["level"] == "ERROR"


def test_handlers_of_libraries_have_it_too() -> None:
    handler = logging.StreamHandler()
    logging.getLogger("of_a_library").addHandler(handler)
    logs.write_our_lines("of_a_library", "text")

    assert log_floods.FLOODS in handler.filters
