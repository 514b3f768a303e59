"""The env file: variables for processes that are started without them.

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
    """Return the path in ENV_FILE, without it the project's `.env`; None if empty or missing."""
    path = os.environ.get("ENV_FILE")
    if path is None:
        default = ROOT / ".env"
        return default if default.exists() else None
    return Path(path) if path else None


def load_env_file() -> None:
    """Add the variables of the env file to the environment, without replacing any.

    Raises ImproperlyConfigured for an unreadable file or a malformed line; the message leaves out
    values, which may be secrets.
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
