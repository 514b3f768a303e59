"""The file of variables, for processes that are started without them.

Why: decision page deploy-variables-may-stand-in-a-file.
"""

import os
import re
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment

ROOT = Path(__file__).resolve().parent.parent
LINE = re.compile(r"(?:export )?[A-Za-z_][A-Za-z_0-9]*=.*")


def env_file() -> Path | None:
    """The file that ENV_FILE names, or `.env` of the project where it exists; none where ENV_FILE
    is empty.
    """
    named = os.environ.get("ENV_FILE")
    if named is None:
        usual = ROOT / ".env"
        return usual if usual.exists() else None
    return Path(named) if named else None


def load_env_file() -> None:
    """Put its variables into the environment, where they are not there already.

    Raises ImproperlyConfigured for a file that cannot be read and for a line that is none; a value
    may be a secret, and is not said.
    """
    path = env_file()
    if path is None:
        return
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{path} cannot be read: {why_unreadable(error)}.") from None
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith("#") and not LINE.fullmatch(line):
            raise ImproperlyConfigured(
                f"Line {number} of {path} is neither NAME=value nor a comment that begins with #."
            )
    Environment.read_env(path)


def why_unreadable(error: Exception) -> str:
    return error.strerror or "" if isinstance(error, OSError) else "it is not UTF-8"
