import pytest
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tickets.models import Comment, Ticket
from tickets.relevance import says_something

COURTESY = [
    "thanks",
    "Thank you!",
    "ok",
    "OK.",
    "gracias",
    "¡Muchas gracias!",
    "👍",
    "👍🏽 🙏",
    "...",
]
COURTESY += [
    "...",
    "?",
    "Hola, buenos días",
    "very good, thanks",
    "de nada",
    "--\n",
    "Thanks a lot",
    "Gracias por su ayuda.",
    "Muchas gracias por la atención y el apoyo",
    "Thank you very much for your quick reply!",
    "THANKS \u2764\ufe0f",
]
CONTENT = ["no", "The box was wet", "12", "yes, it came", "thanks, but it is not here", "请看附件"]
CONTENT += [
    "No, gracias",
    "okay then where is it",
    "not ok",
    "\U0001f44e",
    "\U0001f44e\U0001f3fd",
    "ok \u274c",
    "help",
    "Ayuda, por favor",
    "thanks for nothing",
    "Hello?",
    "\u00bfListo?",
    "ok\uff1f",
    "\U0001f62d",
    "gracias \U0001f494",
]


@pytest.mark.parametrize("text", COURTESY)
def test_courtesy_is_irrelevant(text: str) -> None:
    assert not says_something(Ticket(), text, None)


@pytest.mark.parametrize("text", CONTENT)
def test_more_than_courtesy_is_relevant(text: str) -> None:
    assert says_something(Ticket(), text, None)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_move_without_text_is_relevant(text: str) -> None:
    assert says_something(Ticket(data='{"a": 1}'), text, None)


@pytest.mark.parametrize(
    ("stored", "update", "new"),
    [
        (None, '{"a": 1}', True),
        ('{"a": 1}', '{"a": 2}', True),
        ('{"a": 1}', '{ "a" : 1 }', False),
        ('{"a": 1}', '{"a": true}', True),
        (None, "{}", False),
    ],
)
def test_counts_data_only_when_it_is_new(stored: str | None, update: str, new: bool) -> None:
    assert says_something(Ticket(data=stored), "thanks", update) == new


@pytest.mark.parametrize("text", ["Listo.", "¡Listo, gracias!", "Sure"])
def test_done_is_an_answer_where_something_was_asked(company: Company, text: str) -> None:
    incomplete = build.ticket(company, status=4)
    in_review = build.ticket(company, status=6)

    assert says_something(incomplete, text, None)
    assert not says_something(in_review, text, None)
    for comment, public, answers in (
        ("Is the box still there?", True, True),
        ("We look into it.", True, False),
        ("Does it fit?", False, False),
    ):
        Comment.objects.create(
            ticket=in_review,
            by="agent",
            public=public,
            text=comment,
            status=6,
            created_at=timezone.now(),
        )
        assert says_something(in_review, text, None) == answers
    assert not says_something(incomplete, "gracias", None)
