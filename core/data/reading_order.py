"""Order of names in lists, as readers expect it on every database.

PostgreSQL sorts by code point where that is its collation, which puts Álamo after Zorro, and its
ICU collations are missing from some builds. So names have a key of their own, in SQL and in Python.
"""

import unicodedata

from django.db.models import Func, TextField

# ñ sorts after n and before o, as in Spanish.
ENYE = {"\u00f1": "n~", "\u00d1": "N~"}
LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "æ": "ae", "œ": "oe", "\u03c2": "\u03c3"}
)


class ReadingOrder(Func):
    """Sort key of a name: without case and accents, ñ after n."""

    function = "reading_order"
    template = '%(function)s(%(expressions)s) COLLATE "C"'
    output_field = TextField()


def reading_key(name: str) -> tuple[str, str]:
    """Return the key by which Python sorts names as ReadingOrder does; the name breaks ties."""
    text = unicodedata.normalize("NFC", name)
    for letter, key in ENYE.items():
        text = text.replace(letter, key)
    apart = unicodedata.normalize("NFKD", text)
    plain = "".join(one for one in apart if not unicodedata.combining(one))
    return plain.casefold().translate(LETTERS), name
