"""How much a turn at the database does, by how long it takes."""

import pytest

from deliveries.engine.portions import AIM_SECONDS, BRIEF_SECONDS, ClaimPortion, Portion
from deliveries.engine.rooms import ENOUGH_HELD


def test_all_at_once_while_that_is_quick() -> None:
    portion = Portion(200)
    portion.took(200, AIM_SECONDS / 2)
    assert portion.size == 200


def test_fewer_where_turns_take_long_and_never_none() -> None:
    portion = Portion(200)
    portion.took(200, AIM_SECONDS * 2)
    assert portion.size == 100
    portion.took(100, AIM_SECONDS * 50)
    assert portion.size == 12


def test_a_long_turn_of_a_few_says_nothing_of_many() -> None:
    portion = Portion(200)
    portion.took(1, AIM_SECONDS * 2)
    assert portion.size == 200


def test_more_again_once_turns_are_short_and_full() -> None:
    portion = Portion(200)
    portion.took(200, AIM_SECONDS * 4)
    portion.took(40, AIM_SECONDS / 4)
    assert portion.size == 50

    for _ in range(10):
        portion.took(portion.size, AIM_SECONDS / 2)

    assert portion.size == 200


def test_a_claim_is_of_many_deliveries_while_nobody_quick_is_about() -> None:
    portion = ClaimPortion(100)
    assert portion.sizes(0.0) == (100, ENOUGH_HELD)

    portion.claimed({1: 300, 2: 300}, AIM_SECONDS * 8)
    assert portion.sizes(0.0) == (12, ENOUGH_HELD)

    portion.be_brief(0.0)
    assert portion.sizes(0.0) == (12, 75)
    assert portion.sizes(BRIEF_SECONDS)[1] == ENOUGH_HELD


@pytest.mark.parametrize("receivers", [1, 5, 1000])
@pytest.mark.parametrize("each", [1, 7, 1000])
def test_it_never_claims_nothing_and_grows_again(receivers: int, each: int) -> None:
    """However many webhooks have something waiting, and however little each may be sent."""
    portion = ClaimPortion(100)
    portion.be_brief(0.0)
    portion.claimed(dict.fromkeys(range(100), 6), AIM_SECONDS * 1000)
    assert portion.sizes(0.0) == (6, 37)

    for _ in range(40):
        webhooks, deliveries = portion.sizes(0.0)
        asked = min(webhooks, receivers)
        share = min(max(1, deliveries // asked), each)
        if asked < webhooks and share == each:
            break
        portion.claimed(dict.fromkeys(range(asked), share), AIM_SECONDS / 2)
    else:
        assert portion.sizes(0.0) == (100, 600)
