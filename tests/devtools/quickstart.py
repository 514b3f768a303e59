"""docs/quickstart.md, typed into a terminal as a person would."""

import os
import re
import signal
import subprocess
from pathlib import Path

from tests.devtools.test_supervisor import wait_until
from tests.programs import program
from tools.dev.bootstrap import ROOT
from tools.faults.ports import free_port

PAGE = ROOT / "docs" / "quickstart.md"


class Terminal:
    """A shell in an empty folder, with the whole output so far."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.screen = folder / "screen"
        own = {"XDG_STATE_HOME": str(folder)}
        with self.screen.open("w") as screen:
            self.shell = subprocess.Popen(
                ["bash"],
                cwd=folder,
                env=environment | own,
                stdin=subprocess.PIPE,
                stdout=screen,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )

    def type(self, lines: str) -> None:
        self.shell.stdin.write(lines)
        self.shell.stdin.flush()

    def wait_for(self, words: str) -> None:
        wait_until(lambda: words in self.screen.read_text() or self.shell.poll() is not None, 60)
        assert words in self.screen.read_text(), self.screen.read_text()

    def close(self) -> int:
        self.shell.stdin.close()
        return self.shell.wait(30)


def follow(base: str, environment: dict[str, str], folder: Path) -> str:
    """Follow the page with a service at `base`; returns the terminal's output."""
    program("curl")
    desktop = folder / "desktop"
    desktop.mkdir()
    # The service's place and a free port differ from the page, and nothing else.
    ours = {
        "http://127.0.0.1:8000": base,
        ".dev/": f"{environment['DATA_DIR']}/",
        "3000": str(free_port()),
    }
    text = PAGE.read_text()
    for theirs, our in ours.items():
        text = text.replace(theirs, our)
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    fetch, address, receiver, listen, news, forged, stop = blocks
    terminal = Terminal(environment, desktop)
    try:
        for block in (address, fetch, receiver, listen, news):
            terminal.type(block)
        terminal.wait_for("\nverified tracking.simple shipment ")
        terminal.wait_for("  200  ")
        terminal.type(forged)
        terminal.wait_for("bad signature")
        terminal.type(stop)
        terminal.wait_for("forwarded 1, not accepted 0")
        assert terminal.close() == 0, terminal.screen.read_text()
    finally:
        if terminal.shell.poll() is None:
            os.killpg(terminal.shell.pid, signal.SIGKILL)
            terminal.shell.wait()
    return terminal.screen.read_text()
