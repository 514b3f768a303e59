"""The size of a turn at the database adapts to its duration."""

from deliveries.engine.portions import AIM_SECONDS, Portion


def test_portion_is_unlimited_while_turns_are_quick() -> None:
    portion = Portion(200)
    portion.adjust(200, AIM_SECONDS / 2)
    assert portion.size == 200


def test_portion_shrinks_after_long_turns_but_not_to_zero() -> None:
    portion = Portion(200)
    portion.adjust(200, AIM_SECONDS * 2)
    assert portion.size == 100
    portion.adjust(100, AIM_SECONDS * 50)
    assert portion.size == 12


def test_a_long_turn_of_a_few_says_nothing_of_many() -> None:
    portion = Portion(200)
    portion.adjust(1, AIM_SECONDS * 2)
    assert portion.size == 200


def test_portion_grows_after_short_full_turns() -> None:
    portion = Portion(200)
    portion.adjust(200, AIM_SECONDS * 4)
    portion.adjust(40, AIM_SECONDS / 4)
    assert portion.size == 50

    for _ in range(10):
        portion.adjust(portion.size, AIM_SECONDS / 2)

    assert portion.size == 200
