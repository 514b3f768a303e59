"""Text of a page without its tags."""

import re
from html import unescape


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
