"""Starts, stops and kills the processes of the Procfile, as production starts them."""

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
    """Use it as `with Service(environment, logs) as service: service.start("worker")`.

    `tree` has the code: ours, or that of another version.
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

        `through` is a command that becomes the one it is given, such as `nice`.
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
        """SIGTERM, without waiting for the end."""
        self.processes[name].send_signal(signal.SIGTERM)

    def freeze(self, name: str) -> None:
        """SIGSTOP for the process and all it has forked."""
        os.killpg(self.processes[name].pid, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """Let what was frozen go on."""
        os.killpg(self.processes[name].pid, signal.SIGCONT)

    @contextlib.contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        """Frozen for the length of a block; thawed unless it was killed meanwhile."""
        self.freeze(name)
        try:
            yield
        finally:
            if name in self.processes:
                self.thaw(name)

    def stop(self, *names: str) -> None:
        """Stop processes with SIGTERM, as a deployment does. Raises TimeoutExpired.

        One may have ended already, as when a scenario has asked it to before.
        """
        stopping = [self.processes.pop(name) for name in names]
        for process in stopping:
            process.send_signal(signal.SIGTERM)
            # What a scenario that failed has left frozen hears nothing.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
        with contextlib.ExitStack() as every:
            # One that does not stop in time must not keep the others running.
            for process in stopping:
                every.callback(wait_for_end, process)

    def manage(self, *arguments: str, given: bytes = b"") -> str:
        """Run a management command; returns stdout. Raises CalledProcessError with its output."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=self.tree, env=self.environment, input=given, capture_output=True
        )
        if done.returncode:
            raise subprocess.CalledProcessError(
                done.returncode, command, done.stdout, done.stderr[-2000:]
            )
        return done.stdout.decode()


def wait_for_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_WITHIN_SECONDS)
    finally:
        # Engine loops that wait for a database which is away outlive their worker.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
