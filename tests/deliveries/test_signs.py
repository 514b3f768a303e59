"""Signs of life of loops, and the loops that a keeper starts and ends because of them."""

import math
import os
from contextlib import closing

import pytest

from core.jobs.bell import Bell
from core.jobs.forking import fork_into
from deliveries import publishing
from deliveries.engine.loop import Engine
from deliveries.engine.runner import Runner
from deliveries.engine.signs import (
    LATE_SECONDS,
    SPARE_SECONDS,
    START_SECONDS,
    Sign,
    another_is_needed,
    find_spare,
)
from deliveries.engine.standing_by import PLENTY, PRESSED_SECONDS
from deliveries.http.transport import Transport
from tests import builders as build
from tools.faults.receiver import Receiver
from webhooks.targets import Policy

NOW = 1000.0


def sign(
    back_by: float = NOW, pressed_until: float = -math.inf, busy_at: float = -math.inf
) -> Sign:
    new_sign = Sign()
    new_sign.write(back_by, pressed_until, busy_at)
    return new_sign


SILENT = sign(NOW - LATE_SECONDS - 0.01)
PRESSED = sign(pressed_until=NOW + 0.01)
FREE = sign(NOW - LATE_SECONDS, NOW)


@pytest.mark.parametrize("running", [[], [SILENT], [PRESSED], [PRESSED, SILENT]])
def test_another_is_needed_where_none_could_do_more(running: list[Sign]) -> None:
    assert another_is_needed(running, NOW)


@pytest.mark.parametrize("running", [[FREE], [PRESSED, FREE], [SILENT, FREE]])
def test_no_loop_is_needed_while_one_has_time(running: list[Sign]) -> None:
    assert not another_is_needed(running, NOW)


def test_a_loop_that_has_just_been_started_is_awaited() -> None:
    new = Sign()
    new.begin(NOW)

    assert not another_is_needed([new], NOW + START_SECONDS)
    assert another_is_needed([new], NOW + START_SECONDS + LATE_SECONDS + 0.01)


def test_the_idlest_ends() -> None:
    idle = sign(busy_at=NOW - SPARE_SECONDS)
    idler = sign(busy_at=NOW - SPARE_SECONDS - 1)

    assert find_spare([idle, idler], NOW) is idler
    assert find_spare([idle, sign(busy_at=NOW)], NOW) is idle


@pytest.mark.parametrize(
    "other",
    [None, SILENT, PRESSED, sign(pressed_until=NOW - SPARE_SECONDS + 0.01, busy_at=NOW)],
    ids=["alone", "silent", "pressed", "pressed lately"],
)
def test_no_loop_ends_while_it_may_be_needed(other: Sign | None) -> None:
    running = [sign(), *([other] if other else [])]

    assert find_spare(running, NOW) is None


def test_recently_busy_loop_does_not_end() -> None:
    lately = sign(busy_at=NOW - SPARE_SECONDS + 0.01)

    assert find_spare([lately, lately], NOW) is None


def test_a_sign_is_seen_by_other_processes() -> None:
    shared = Sign()

    os.waitpid(fork_into(lambda: shared.write(NOW, NOW + 1, NOW)), 0)

    assert shared.is_pressed(NOW)


@pytest.mark.parametrize("webhooks", [1, PLENTY])
def test_a_loop_says_how_it_goes(
    receiver: Receiver, loopback: Policy, db: None, webhooks: int
) -> None:
    companies = [build.company(f"Company {number}") for number in range(webhooks)]
    for company in companies:
        build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company) for company in companies])
    shared = Sign()
    with closing(Transport(loopback, concurrency=64)) as transport:
        engine = Engine(transport, lambda: False, Runner(), Bell(), shared)
        began = engine.busy_at
        engine.run(until_idle=True)

    assert not shared.is_silent(engine.busy_at)
    assert shared.idle_seconds(engine.busy_at) == 0 < engine.busy_at - began
    assert shared.is_pressed(began + PRESSED_SECONDS) == (webhooks == PLENTY)
