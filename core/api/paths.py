"""Converters of URL paths: ids, in plain ASCII digits from 1 to 2^63-1, and any text."""

from django.urls.converters import StringConverter

from core.values.ids import LARGEST_ID


class TextConverter(StringConverter):
    """Converter for `<text:tracking_number>`: any text, slashes and line breaks included."""

    regex = "(?s:.+)"


class IdConverter:
    """Converter for `<id:ticket_id>` in a URL pattern; anything else is a 404."""

    regex = "[1-9][0-9]{0,18}"

    def to_python(self, text: str) -> int:
        """Parse an id. Raises ValueError, which Django treats as no match."""
        if int(text) > LARGEST_ID:
            raise ValueError(text)
        return int(text)

    def to_url(self, value: int) -> str:
        return str(value)
