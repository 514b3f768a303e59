"""Commands of a runbook, run as written; only names of places and rows are filled in."""

import re
import subprocess
from functools import cache

from tools.faults.service import ROOT, Service


class NotMended(Exception):
    """The page did not solve the incident."""


OPERATIONS = ROOT / "docs" / "operations"


@cache
def runbooks() -> dict[str, str]:
    """Return each section of the runbooks by its anchor, with their common part."""
    parts = re.split(r"^## (.+)\n", (OPERATIONS / "runbooks.md").read_text(), flags=re.MULTILINE)
    anchors = [heading.lower().replace(" ", "-") for heading in parts[1::2]]
    return dict(zip(anchors, parts[2::2], strict=True))


def page_of(name: str) -> str:
    """Return the text of a runbook, or of another document such as `backups.md`.

    Raises KeyError or OSError if it does not exist.
    """
    return (OPERATIONS / name).read_text() if name.endswith(".md") else runbooks()[name]


def commands_of(whole: str) -> list[str]:
    """Return lines of its shell blocks, continued ones joined, and commands in its sentences."""
    blocks = re.findall(r"```sh\n(.*?)```", whole, re.DOTALL)
    text = re.sub(r"\\\n|\n  (?=[A-Z]|pg_)", " ", "".join(blocks))
    inline = re.findall(r"`(parceldesk [^`]+)`", whole)
    return [line for line in [*text.splitlines(), *inline] if line]


class Page:
    """Runbook that is being followed; `executed` lists the commands that were run."""

    def __init__(self, name: str, service: Service) -> None:
        self.name = name
        self.service = service
        self.commands = commands_of(page_of(name))
        self.executed: list[str] = []

    def manage(self, name: str, *arguments: str, fails: bool = False) -> str:
        """Run a management command of the page; return its output.

        Raises LookupError if the page does not have the command with these options.
        """
        lines = [line for line in self.commands if line.startswith(f"parceldesk {name}")]
        options = {each for each in arguments if each.startswith("--")} - {"--confirm"}
        if not any(options <= set(line.split()) for line in lines):
            raise LookupError(f"{self.name} does not say: {name} {' '.join(sorted(options))}")
        self.executed.append(" ".join([name, *arguments]))
        try:
            return self.service.manage(name, *arguments)
        except subprocess.CalledProcessError as error:
            if not fails:
                raise NotMended(f"{name}: {error.stderr.decode()[-500:]}") from error
            return str(error.stdout.decode())

    def note(self, what: str) -> None:
        """Note a step that the page describes in words."""
        self.executed.append(what)
