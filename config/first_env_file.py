"""Writer of the first env file: `.env.example` with fresh keys and the values that are known."""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from cryptography.fernet import Fernet

from config.env_files import ROOT

EXAMPLE = ROOT / ".env.example"
VARIABLE = re.compile(r"(?:# )?([A-Z][A-Z_]*)=.*")
# Placeholders for the settings that have no default.
NEEDED = {
    "ENV_FILE": "",
    "DATABASE_URL": "postgres://nobody@127.0.0.1/none",
    "BROKER_URL": "redis://127.0.0.1",
}


def prepare_first_start() -> None:
    """Make settings readable before there is an env file. Nothing connects to these addresses."""
    os.environ.update(NEEDED)
    os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))


def fresh_keys() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(64),
        "FIELD_KEYS": Fernet.generate_key().decode(),
    }


def write_first_env_file(path: Path, values: Mapping[str, str]) -> None:
    """Write the file, readable by its owner only. Raises FileExistsError or another OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        file.writelines(f"{line}\n" for line in filled_in(EXAMPLE.read_text(), values))
        file.flush()
        os.fsync(descriptor)


def filled_in(example: str, values: Mapping[str, str]) -> Iterator[str]:
    """Yield the example's lines with these values; the other variables become comments."""
    unwritten = dict(values)
    for line in example.splitlines():
        match = VARIABLE.fullmatch(line)
        if not match:
            yield line
        elif match[1] in unwritten:
            yield f"{match[1]}={unwritten.pop(match[1])}"
        else:
            yield line if line.startswith("#") else f"# {line}"
    for name, value in unwritten.items():
        yield f"{name}={value}"
