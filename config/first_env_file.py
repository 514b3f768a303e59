"""Writes the first file of variables: `.env.example` with fresh keys and what is known."""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from cryptography.fernet import Fernet

from config.env_files import ROOT

EXAMPLE = ROOT / ".env.example"
VARIABLE = re.compile(r"(?:# )?([A-Z][A-Z_]*)=.*")
# The only settings that a program needs which makes the others.
NEEDED = {
    "ENV_FILE": "",
    "DATABASE_URL": "postgres://nobody@127.0.0.1/none",
    "BROKER_URL": "redis://127.0.0.1",
}


def prepare_first_start() -> None:
    """Let settings be read where there are none yet. Nothing is asked at these addresses."""
    os.environ.update(NEEDED)
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))


def fresh_keys() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(64),
        "FIELD_KEYS": Fernet.generate_key().decode(),
    }


def write_first_env_file(path: Path, values: Mapping[str, str]) -> None:
    """Make the file, for nobody but us to read. Raises FileExistsError, or another OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        file.writelines(f"{line}\n" for line in filled_in(EXAMPLE.read_text(), values))
        file.flush()
        os.fsync(descriptor)


def filled_in(example: str, values: Mapping[str, str]) -> Iterator[str]:
    """Lines of the example with these values; the other variables are comments."""
    left = dict(values)
    for line in example.splitlines():
        found = VARIABLE.fullmatch(line)
        if not found:
            yield line
        elif found[1] in left:
            yield f"{found[1]}={left.pop(found[1])}"
        else:
            yield line if line.startswith("#") else f"# {line}"
    for name, value in left.items():
        yield f"{name}={value}"
