"""Supervisor of several programs: combined output, restarts, ordered shutdown."""

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from tools.dev.output import Output
from tools.dev.processes import signal_group, stop, tether
from tools.dev.trouble import UsageError

# All programs are signalled at once and share this time; the servers come after them, and the
# whole shutdown may take ten seconds.
PROGRAMS_STOP_WITHIN_SECONDS = 6.5
FIRST_RESTART_AFTER_SECONDS = 0.5
LONGEST_RESTART_SECONDS = 10
# A program that ran this long is not in a crash loop.
STABLE_AFTER_SECONDS = 30
LAST_LINES = 5


class Runnable(Protocol):
    """Program, or one of the private servers."""

    name: str

    def start(self) -> subprocess.Popen[bytes]: ...

    def last_words(self) -> str: ...


@dataclass
class Program:
    """Shell command that becomes one process: of the Procfile, or one of our own."""

    name: str
    command: str
    environment: dict[str, str]
    folder: str
    prefixed: bool = True
    # Run to completion, and do not restart.
    once: bool = False
    # Stop it after the others, which may still need it.
    late: bool = False
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def start(self) -> subprocess.Popen[bytes]:
        # A release may join commands by &&; a long-running program replaces the shell, so that
        # it gets our signals.
        command = self.command if self.once else f"exec {self.command}"
        return subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment,
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=tether(signal.SIGTERM),
        )

    def last_words(self) -> str:
        return " | ".join(self.lines) or "nothing"


class Supervisor:
    """Supervisor without threads: `turn` reads output, notices deaths and restarts."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.selector = selectors.DefaultSelector()
        self.running: dict[str, tuple[Runnable, subprocess.Popen[bytes], float]] = {}
        self.waiting: dict[str, tuple[Runnable, float]] = {}
        self.failures: dict[str, int] = {}
        self.partial: dict[str, bytes] = {}

    def start(self, what: Runnable) -> subprocess.Popen[bytes]:
        process = what.start()
        self.watch(what, process)
        return process

    def watch(self, what: Runnable, process: subprocess.Popen[bytes]) -> None:
        """Supervise a process that is already running."""
        self.running[what.name] = (what, process, time.monotonic())
        if process.stdout:
            os.set_blocking(process.stdout.fileno(), False)
            self.selector.register(process.stdout, selectors.EVENT_READ, (what, process))

    def run(self, program: Program) -> int:
        """Run a program to its end, supervising the others meanwhile; return its exit code."""
        process = self.start(program)
        while process.poll() is None:
            self.turn()
        self.turn()
        return process.returncode

    def forever(self) -> NoReturn:
        while True:
            self.turn()

    def turn(self) -> None:
        """Wait briefly for output, print it, and handle deaths and due restarts."""
        for key, _ in self.selector.select(0.2):
            self.read(*key.data)
        for what, process, since in list(self.running.values()):
            if process.poll() is not None:
                self.bury(what, process, since)
        for name, (what, due) in list(self.waiting.items()):
            if time.monotonic() >= due:
                del self.waiting[name]
                self.restart(what)

    def read(self, what: Runnable, process: subprocess.Popen[bytes]) -> bool:
        """Print available output; return False at the end of the stream, or without one."""
        if process.stdout is None or not isinstance(what, Program):
            return False
        try:
            chunk = os.read(process.stdout.fileno(), 65536)
        except BlockingIOError:
            return False
        if not chunk:
            self.forget_output(process)
        *lines, rest = (self.partial.pop(what.name, b"") + chunk).split(b"\n")
        if rest and chunk:
            self.partial[what.name] = rest
        elif rest:
            lines.append(rest)
        for line in lines:
            self.show(what, line.decode(errors="replace").rstrip("\r"))
        return bool(chunk)

    def show(self, program: Program, line: str) -> None:
        program.lines.append(line)
        if program.prefixed:
            self.output.show(program.name, line)
        else:
            self.output.write(line)

    def bury(self, what: Runnable, process: subprocess.Popen[bytes], since: float) -> None:
        """Kill a dead process's group, read its last output, and plan its restart."""
        del self.running[what.name]
        signal_group(process, signal.SIGKILL)
        while process.stdout and not process.stdout.closed and self.read(what, process):
            pass
        self.forget_output(process)
        if isinstance(what, Program) and what.once:
            return
        if time.monotonic() - since > STABLE_AFTER_SECONDS:
            self.failures.pop(what.name, None)
        self.plan_restart(what, f"{what.name} {ending(process.returncode)}")

    def forget_output(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdout and not process.stdout.closed:
            self.selector.unregister(process.stdout)
            process.stdout.close()

    def plan_restart(self, what: Runnable, reason: str) -> None:
        failures = self.failures.get(what.name, 0)
        self.failures[what.name] = failures + 1
        wait = min(FIRST_RESTART_AFTER_SECONDS * 2**failures, LONGEST_RESTART_SECONDS)
        self.waiting[what.name] = (what, time.monotonic() + wait)
        self.output.say(
            f"{reason}; starting it again in {wait:g} s. Its last words: {what.last_words()}"
        )

    def restart(self, what: Runnable) -> None:
        try:
            self.start(what)
        except (OSError, UsageError) as error:
            self.plan_restart(what, f"{what.name} does not start ({error})")

    def stop(self) -> None:
        """Stop the programs together, then the late ones; the caller stops the servers."""
        self.waiting.clear()
        programs = [(w, p) for w, p, _ in self.running.values() if isinstance(w, Program)]
        first = [process for what, process in programs if not what.late]
        for process in first:
            process.terminate()
        deadline = time.monotonic() + PROGRAMS_STOP_WITHIN_SECONDS
        while time.monotonic() < deadline and any(p.poll() is None for p in first):
            for key, _ in self.selector.select(0.05):
                self.read(*key.data)
        for process in first:
            stop(process, [])
        for _, process in programs:
            stop(process, [(signal.SIGTERM, 0.5)])
            self.forget_output(process)


def ending(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    return f"was killed by signal {-code} ({signal.Signals(-code).name})"
