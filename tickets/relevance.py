"""Default relevance check: whether a message gives an agent something to work on (decision T9).

`settings.RELEVANCE_CHECK` names the function in use.
"""

import re
import unicodedata

from core.values.texts import is_blank
from tickets.changes import variables
from tickets.changes.documents import waits_for_answer
from tickets.models import Ticket

WORD = re.compile(r"[^\W_]+")
COURTESY = frozenset(
    WORD.findall(
        "a again all best bien buena buenas bueno buenos cheers cool day de del dia dias evening "
        "excelente fine genial good gracias great hello hey hi hola kind k listo lot many mil "
        "morning muchas mucho muy nada nice noches ok okay okey perfect perfecto por regards "
        "saludos so sure tardes thank thanks thx ty u vale very welcome you"
    )
)
# Words for what people give thanks for; without thanks they may be a request, such as "help".
THANKS = frozenset({"gracias", "thank", "thanks", "thx"})
THANKED_FOR = COURTESY | frozenset(
    WORD.findall(
        "and apoyo atencion ayuda el everything for help la much quick reply respuesta "
        "rapida response su support the todo tu y your"
    )
)
# Emoji that disagree or complain; others, such as a raised thumb, are courtesy.
DISLIKES = frozenset(
    "\U0001f44e\u274c\u274e\u2716\U0001f645\U0001f620\U0001f621\U0001f624\U0001f92c\U0001f62d\U0001f622"
    "\U0001f494\u2639\U0001f641\U0001f61e"
)
# Courtesies that answer an agent's question: "listo" says that it is done.
ANSWERS = frozenset({"listo", "sure"})


def says_something(ticket: Ticket, text: str, data: str | None) -> bool:
    """Return False if `text` is only courtesy or punctuation and `data` is not new.

    A move without a text is relevant: the move itself says that the ticket goes on.
    """
    if is_blank(text):
        return True
    if data is not None and not variables.is_same_data(
        variables.parse_variables(data), variables.parse_variables(ticket.data)
    ):
        return True
    plain = fold_accents(text)
    words = WORD.findall(plain)
    usual = COURTESY if THANKS.isdisjoint(words) else THANKED_FOR
    if not DISLIKES.isdisjoint(text) or any(word not in usual for word in words):
        return True
    if words and "?" in plain:
        # "Hello?" and "ok?" wait for an answer.
        return True
    return not ANSWERS.isdisjoint(words) and waits_for_answer(ticket)


def fold_accents(text: str) -> str:
    """Case-fold a text and remove its accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
