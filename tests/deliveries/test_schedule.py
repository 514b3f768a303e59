import pytest
from django.conf import settings

from deliveries.engine.schedule import next_wait

MINUTE, HOUR = 60, 3600


@pytest.mark.parametrize(
    ("failures", "wait"),
    [
        (1, 5),
        (2, 5 * MINUTE),
        (3, 30 * MINUTE),
        (4, 2 * HOUR),
        (5, 5 * HOUR),
        (6, 10 * HOUR),
        (7, 14 * HOUR),
        (8, 20 * HOUR),
        (9, 24 * HOUR),
        (10, None),
        (11, None),
    ],
)
def test_waits_longer_each_time_and_then_gives_up(failures: int, wait: float | None) -> None:
    assert next_wait(failures, settings.DELIVERY_RETRY_SECONDS, dice=0) == wait


def test_adds_at_most_a_tenth() -> None:
    assert next_wait(2, [5, 300], dice=0.5) == 315
    assert 329 < next_wait(2, [5, 300], dice=0.999) < 330


@pytest.mark.parametrize(
    ("retry_after", "wait"), [(None, 300), (0, 300), (10, 300), (900, 900), (10**9, 86400)]
)
def test_heeds_a_receiver_that_asks_for_longer(retry_after: float | None, wait: float) -> None:
    assert next_wait(2, [5, 300], dice=0, retry_after=retry_after) == wait


def test_gives_up_whatever_the_receiver_asks() -> None:
    assert next_wait(3, [5, 300], dice=0, retry_after=60) is None
