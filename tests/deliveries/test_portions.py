"""How much a turn at the database does, by how long it takes."""

from deliveries.engine.portions import AIM_SECONDS, Portion


def test_all_at_once_while_that_is_quick() -> None:
    portion = Portion(200)
    portion.adjust(200, AIM_SECONDS / 2)
    assert portion.size == 200


def test_fewer_where_turns_take_long_and_never_none() -> None:
    portion = Portion(200)
    portion.adjust(200, AIM_SECONDS * 2)
    assert portion.size == 100
    portion.adjust(100, AIM_SECONDS * 50)
    assert portion.size == 12


def test_a_long_turn_of_a_few_says_nothing_of_many() -> None:
    portion = Portion(200)
    portion.adjust(1, AIM_SECONDS * 2)
    assert portion.size == 200


def test_more_again_once_turns_are_short_and_full() -> None:
    portion = Portion(200)
    portion.adjust(200, AIM_SECONDS * 4)
    portion.adjust(40, AIM_SECONDS / 4)
    assert portion.size == 50

    for _ in range(10):
        portion.adjust(portion.size, AIM_SECONDS / 2)

    assert portion.size == 200
