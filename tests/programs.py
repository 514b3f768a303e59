"""Programs from outside that some tests need: found, or the test skips and says what to install."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

SET_UP = ("dev: creating", "dev: installing", "dev: another ./dev is installing")
PACKAGES = Path(__file__).with_name("packages.txt")


def program(name: str) -> str:
    """The path of the program, or of one that packages.txt says will do as well.

    Skips the test when there is none. Raises LookupError when packages.txt does not name it.
    """
    for package, names in packages():
        if name in names:
            found = next(filter(None, map(shutil.which, names)), None)
            if found is None:
                pytest.skip(f"no {name}: apt-get install {package}")
            return found
    raise LookupError(f"{name} is not in {PACKAGES}")


def packages() -> Iterator[tuple[str, list[str]]]:
    """Each package with the programs of which it brings one."""
    for line in PACKAGES.read_text().splitlines():
        if line and not line.startswith("#"):
            package, names, _ = line.split(maxsplit=2)
            yield package, names.split(",")


def without_set_up(stderr: str) -> str:
    """What a command says but for how its packages are installed, which only the first tells."""
    lines = stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(SET_UP))
