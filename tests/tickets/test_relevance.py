import pytest

from tickets.models import Ticket
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
]
CONTENT = ["no", "The box was wet", "12", "yes, it came", "thanks, but it is not here", "请看附件"]
CONTENT += ["No, gracias", "okay then where is it", "not ok"]


@pytest.mark.parametrize("text", COURTESY)
def test_holds_courtesy_for_nothing(text: str) -> None:
    assert not says_something(Ticket(), text, None)


@pytest.mark.parametrize("text", CONTENT)
def test_hears_what_is_more_than_courtesy(text: str) -> None:
    assert says_something(Ticket(), text, None)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_lets_a_move_without_words_pass(text: str) -> None:
    assert says_something(Ticket(data='{"a": 1}'), text, None)


@pytest.mark.parametrize(
    ("stored", "sent", "new"),
    [
        (None, '{"a": 1}', True),
        ('{"a": 1}', '{"a": 2}', True),
        ('{"a": 1}', '{ "a" : 1 }', False),
        ('{"a": 1}', '{"a": true}', True),
        (None, "{}", False),
    ],
)
def test_counts_data_only_when_it_is_new(stored: str | None, sent: str, new: bool) -> None:
    assert says_something(Ticket(data=stored), "thanks", sent) == new
