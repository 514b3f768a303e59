"""Paths of requests as logs, traces and error reports may show them. Pure."""

import re

# Tokens and keys are longer; ids, names of pages and most tracking numbers are not. A colon is in
# what Django signs, such as the addresses of files.
LONGEST_PART = 24
SIGNED = ":"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def shown_path(path: str) -> str:
    """Leave out of a path what may be a secret, or would break the line that shows it.

    That is each part that is signed, long and no UUID, or not all printable.
    """
    return "/".join(part if is_harmless(part) else "…" for part in path.split("/"))


def is_harmless(part: str) -> bool:
    if len(part) <= LONGEST_PART:
        return SIGNED not in part and part.isprintable()
    return bool(UUID.fullmatch(part))
