"""What a runbook says to run, run as it says; only what names a place or a row is put in."""

import re
import subprocess
from pathlib import Path

from faults.service import ROOT, Service


class NotMended(Exception):
    """Who followed the page is no further."""


RUNBOOKS = ROOT / "docs" / "operations" / "runbooks"


def commands_of(page: Path) -> list[str]:
    """The lines of its shell blocks, those that go on in the next as one, and commands in words."""
    whole = page.read_text()
    blocks = re.findall(r"```sh\n(.*?)```", whole, re.DOTALL)
    text = re.sub(r"\\\n|\n  (?=[A-Z]|pg_)", " ", "".join(blocks))
    inline = re.findall(r"`(parceldesk [^`]+)`", whole)
    return [line for line in [*text.splitlines(), *inline] if line]


class Page:
    """A runbook that somebody follows; `done` says which of its commands were run."""

    def __init__(self, name: str, service: Service) -> None:
        self.path = RUNBOOKS / f"{name}.md"
        self.service = service
        self.commands = commands_of(self.path)
        self.done: list[str] = []

    def manage(self, name: str, *arguments: str, fails: bool = False) -> str:
        """Run a management command of the page; returns what it printed.

        Raises LookupError where the page does not tell to run it, or tells other options.
        """
        said = [line for line in self.commands if line.startswith(f"parceldesk {name}")]
        options = {each for each in arguments if each.startswith("--")} - {"--confirm"}
        if not any(options <= set(line.split()) for line in said):
            raise LookupError(f"{self.path.name} does not say: {name} {' '.join(sorted(options))}")
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
