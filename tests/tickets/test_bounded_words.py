"""A text of very many different words takes little room in the indexes, and is found."""

import random

from django.db import connection
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build

# Number of words that fit into a text of 64 KiB.
DIFFERENT = 10_900
SIZE = """
SELECT sum(pg_relation_size(indexrelid)) FROM pg_index
WHERE indrelid = 'tickets_comment'::regclass
"""


def many_words(seed: int) -> list[str]:
    dice = random.Random(seed)  # noqa: S311 - no secret
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(dice.choices(letters, k=5)) for _ in range(DIFFERENT)]


def ask(statement: str, *values: object) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.fetchone()[0])


def count_matches(api: APIClient, words: str) -> int:
    answer = api.get("/company/tickets", {"q": words})
    return len(answer.json()["data"])


def test_a_text_has_its_first_2000_words_in_an_index(api: APIClient, company: Company) -> None:
    words = many_words(1)
    text = " ".join(words)
    ticket = build.ticket(company)
    api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": text})

    assert ask("SELECT length(tickets_words_of(1, 2, %s, NULL))", text) == 2_001
    assert ask("SELECT length(search_terms(%s, 2))", text) == 2_000
    assert [count_matches(api, word) for word in (words[0], words[1_000], words[-1])] == [1, 1, 0]
    assert count_matches(api, f'"{words[3]} {words[4]}"') == 1
    assert count_matches(api, f'"{words[4]} {words[3]}"') == 0


def test_the_last_word_of_a_long_text_of_few_words_is_found(
    api: APIClient, company: Company
) -> None:
    text = "the box is here and not there " * 2_000 + "crushed"
    ticket_id = api.post("/company/tickets", {"type_id": 2, "comments": text}).json()["id"]
    api.post(f"/company/tickets/{ticket_id}/comments", {"comment": text.replace("crushed", "torn")})

    assert [count_matches(api, word) for word in ("crushed", "torn", "absent")] == [1, 1, 0]
    assert [
        ask(
            "SELECT count(*) FROM tickets_comment WHERE search_terms(text, id) @@ %s::tsquery",
            f"'0 {word}'",
        )
        for word in ("torn", "absent")
    ] == [1, 0]


def test_a_comment_of_different_words_takes_little_room(api: APIClient, company: Company) -> None:
    ticket, before = build.ticket(company), ask(SIZE)
    for number in range(5):
        text = " ".join(many_words(number))
        assert (
            api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": text}).status_code == 200
        )

    kib = (ask(SIZE) - before) / 1024 / 5
    assert kib < 300
