"""The range of ids in requests: integers from 1 to LARGEST_ID. Pure."""

# PostgreSQL's bigint.
LARGEST_ID = 2**63 - 1
# Ids as text, for descriptions: nobody has one of 19 digits.
ID_PATTERN = "[1-9][0-9]{0,17}"


def read_id(text: str) -> int | None:
    """Parse an id in ASCII digits; None if the text is not one, however long it is."""
    # Python refuses to read thousands of digits.
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        return None
    number = int(text)
    return number if 0 < number <= LARGEST_ID else None
