"""Private servers on Unix sockets: start, wait, stop."""

import subprocess
import time
from pathlib import Path

from tools.dev.places import Place, as_account
from tools.dev.processes import stop, tether
from tools.dev.trouble import UsageError

READY_WITHIN_SECONDS = 30


class Server:
    """Common base of PostgreSQL and Valkey."""

    name: str
    # Signals, each with the seconds to wait before the next; the first is also sent when the
    # launcher dies.
    farewell: list[tuple[int, float]]

    def __init__(self, place: Place) -> None:
        self.place = place
        self.log = place.logs / f"{self.name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        raise NotImplementedError

    def prepare(self) -> None:
        """Create what the program needs to start."""

    def command(self) -> list[str | Path]:
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError

    def start(self) -> subprocess.Popen[bytes]:
        """Start the program without waiting for it."""
        self.prepare()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.place.files,
                start_new_session=True,
                preexec_fn=tether(self.farewell[0][0]),
                **as_account(self.place.account),
            )
        return self.process

    def start_and_wait(self) -> subprocess.Popen[bytes]:
        """Start the server and wait until it answers.

        A predecessor that was just killed may still hold the files: then start again.
        """
        process = self.start()
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        while not self.answers():
            if time.monotonic() > deadline:
                self.stop()
                raise UsageError(f"{self.name} does not answer; it said: {self.last_words()}")
            if process.poll() is not None:
                if time.monotonic() > deadline - READY_WITHIN_SECONDS / 2:
                    raise UsageError(f"{self.name} does not start; it said: {self.last_words()}")
                time.sleep(0.5)
                process = self.start()
            time.sleep(0.02)
        return process

    def stop(self) -> None:
        if self.process:
            stop(self.process, self.farewell)

    def last_words(self) -> str:
        """Return the end of the log as one line."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return " | ".join(lines[-3:]) or "nothing"
