"""What we change of Celery's worker."""

import billiard.pool
import pytest
from billiard.context import ForkContext
from billiard.pool import Worker

from config import celery


def test_a_process_of_the_pool_waits_for_two_seconds_until_its_results_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert celery.app
    waits: list[float] = []
    monkeypatch.setattr(billiard.pool.time, "sleep", waits.append)
    process = Worker.__new__(Worker)
    process.on_ready_counter = ForkContext().Value("i", 0)

    assert process._ensure_messages_consumed(completed=1) is False
    assert sum(waits) == pytest.approx(2)
    process.on_ready_counter.value = 1
    assert process._ensure_messages_consumed(completed=1) is True
