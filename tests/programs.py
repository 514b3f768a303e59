"""External programs that some tests need: without them the test skips and says what to install."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

SET_UP = ("dev: creating", "dev: installing", "dev: another ./dev is installing")
PACKAGES = Path(__file__).with_name("packages.txt")


def program(name: str) -> str:
    """Return the path of the program, or of one that packages.txt lists as a substitute.

    Skips the test when there is none. Raises LookupError when packages.txt does not name it.
    """
    for package, names in packages():
        if name in names:
            path = next(filter(None, map(shutil.which, names)), None)
            if path is None:
                pytest.skip(f"no {name}: apt-get install {package}")
            return path
    raise LookupError(f"{name} is not in {PACKAGES}")


def packages() -> Iterator[tuple[str, list[str]]]:
    """Yield each package with its programs, any of which shows that it is installed."""
    for line in PACKAGES.read_text().splitlines():
        if line and not line.startswith("#"):
            package, names, _ = line.split(maxsplit=2)
            yield package, names.split(",")


def without_set_up(stderr: str) -> str:
    """Remove the lines about package installation, which only the first command prints."""
    lines = stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(SET_UP))
