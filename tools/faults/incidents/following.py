"""What a runbook says to run, run as it says; only what names a place or a row is put in."""

import re
import subprocess
from functools import cache

from tools.faults.service import ROOT, Service


class NotMended(Exception):
    """Who followed the page is no further."""


OPERATIONS = ROOT / "docs" / "operations"


@cache
def runbooks() -> dict[str, str]:
    """Each section of the runbooks by its anchor, and what they have in common."""
    parts = re.split(r"^## (.+)\n", (OPERATIONS / "runbooks.md").read_text(), flags=re.MULTILINE)
    anchors = [heading.lower().replace(" ", "-") for heading in parts[1::2]]
    return dict(zip(anchors, parts[2::2], strict=True))


def page_of(name: str) -> str:
    """The text of a runbook, or of a document beside them: `backups.md`.

    Raises KeyError or OSError where there is none.
    """
    return (OPERATIONS / name).read_text() if name.endswith(".md") else runbooks()[name]


def commands_of(whole: str) -> list[str]:
    """The lines of its shell blocks, those that go on in the next as one, and commands in words."""
    blocks = re.findall(r"```sh\n(.*?)```", whole, re.DOTALL)
    text = re.sub(r"\\\n|\n  (?=[A-Z]|pg_)", " ", "".join(blocks))
    inline = re.findall(r"`(parceldesk [^`]+)`", whole)
    return [line for line in [*text.splitlines(), *inline] if line]


class Page:
    """A runbook that somebody follows; `done` says which of its commands were run."""

    def __init__(self, name: str, service: Service) -> None:
        self.name = name
        self.service = service
        self.commands = commands_of(page_of(name))
        self.done: list[str] = []

    def manage(self, name: str, *arguments: str, fails: bool = False) -> str:
        """Run a management command of the page; returns what it printed.

        Raises LookupError where the page does not tell to run it, or tells other options.
        """
        said = [line for line in self.commands if line.startswith(f"parceldesk {name}")]
        options = {each for each in arguments if each.startswith("--")} - {"--confirm"}
        if not any(options <= set(line.split()) for line in said):
            raise LookupError(f"{self.name} does not say: {name} {' '.join(sorted(options))}")
        self.done.append(" ".join([name, *arguments]))
        try:
            return self.service.manage(name, *arguments)
        except subprocess.CalledProcessError as error:
            if not fails:
                raise NotMended(f"{name}: {error.stderr.decode()[-500:]}") from error
            return str(error.stdout.decode())

    def note(self, what: str) -> None:
        """Something that the page says in words."""
        self.done.append(what)
