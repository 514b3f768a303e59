"""Processes of the Procfile, started as in production, stopped or killed."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[2]


def procfile(tree: Path) -> dict[str, str]:
    lines = (tree / "Procfile").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line)


PROCFILE = procfile(ROOT)
STOP_WITHIN_SECONDS = 15


class Service:
    """Processes of a service: `with Service(environment, logs) as service: service.start("web")`.

    `tree` is the folder of the code: ours, or that of another version.
    """

    def __init__(self, environment: Mapping[str, str], logs: Path, tree: Path = ROOT) -> None:
        self.tree = tree
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            **environment,
        }
        self.logs = logs
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(*self.processes)

    def start(self, kind: str, name: str = "", through: Sequence[str] = ()) -> None:
        """Start a line of the Procfile in a process group of its own.

        `through` is a command that executes its arguments, such as `nice`.
        """
        with self.log(name or kind) as log:
            self.processes[name or kind] = subprocess.Popen(
                [*through, "/bin/sh", "-c", f"exec {procfile(self.tree)[kind]}"],
                cwd=self.tree,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self, name: str) -> IO[bytes]:
        return (self.logs / f"{name}.log").open("ab")

    def kill(self, name: str) -> None:
        """Kill the process and its children with SIGKILL."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def ask_to_stop(self, name: str) -> None:
        """Send SIGTERM without waiting for the end."""
        self.processes[name].send_signal(signal.SIGTERM)

    def freeze(self, name: str) -> None:
        """Send SIGSTOP to the process and its children."""
        os.killpg(self.processes[name].pid, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Resume a frozen process."""
        os.killpg(self.processes[name].pid, signal.SIGCONT)

    @contextlib.contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        """Freeze a process for the duration of a block, unless it is killed meanwhile."""
        self.freeze(name)
        try:
            yield
        finally:
            if name in self.processes:
                self.thaw(name)

    def stop(self, *names: str) -> None:
        """Stop processes with SIGTERM, as a deployment does. Raises TimeoutExpired.

        A process may have ended already, for example after `ask_to_stop`.
        """
        stopping = [self.processes.pop(name) for name in names]
        for process in stopping:
            process.send_signal(signal.SIGTERM)
            # A failed scenario may have left it frozen, in which case it ignores SIGTERM.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
        with contextlib.ExitStack() as every:
            # Stop the others too if one does not stop in time.
            for process in stopping:
                every.callback(wait_for_end, process)

    def manage(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run a management command; return stdout. Raises CalledProcessError with its output."""
        command = [sys.executable, "manage.py", *arguments]
        process = subprocess.run(
            command, cwd=self.tree, env=self.environment, input=stdin, capture_output=True
        )
        if process.returncode:
            raise subprocess.CalledProcessError(
                process.returncode, command, process.stdout, process.stderr[-2000:]
            )
        return process.stdout.decode()


def wait_for_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_WITHIN_SECONDS)
    finally:
        # Engine loops that wait for an unavailable database outlive their worker.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
