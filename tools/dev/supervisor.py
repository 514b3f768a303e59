"""Runs programs side by side: their output in one stream, restarts, and an end in order."""

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

# All programs are told at once and have this long together; the servers come after them, and
# ten seconds is what the whole may take.
PROGRAMS_STOP_WITHIN_SECONDS = 6.5
FIRST_RESTART_AFTER_SECONDS = 0.5
LONGEST_RESTART_SECONDS = 10
# Who lived this long is not in a loop of failing.
STABLE_AFTER_SECONDS = 30
LAST_LINES = 5


class Runnable(Protocol):
    """A program, or one of the private servers."""

    name: str

    def start(self) -> subprocess.Popen[bytes]: ...

    def last_words(self) -> str: ...


@dataclass
class Program:
    """A line of the Procfile, or one of our own: a shell command that becomes one process."""

    name: str
    command: str
    environment: dict[str, str]
    folder: str
    prefixed: bool = True
    # Not restarted when it ends: it has done what it was for.
    once: bool = False
    # Ended after the others, because they may still want something of it.
    late: bool = False
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def start(self) -> subprocess.Popen[bytes]:
        # A release may join commands by &&; a lasting program takes the shell's place, so that
        # it is the one to hear our signals.
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
    """Everything happens in the caller's thread, in `turn`: read, notice deaths, restart."""

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
        """Take over a process already started."""
        self.running[what.name] = (what, process, time.monotonic())
        if process.stdout:
            os.set_blocking(process.stdout.fileno(), False)
            self.selector.register(process.stdout, selectors.EVENT_READ, (what, process))

    def run(self, program: Program) -> int:
        """Run a program to its end, serving the others meanwhile; its exit code."""
        process = self.start(program)
        while process.poll() is None:
            self.turn()
        self.turn()
        return process.returncode

    def forever(self) -> NoReturn:
        while True:
            self.turn()

    def turn(self) -> None:
        """Wait a little for output, print it, and see who has died or is due to start again."""
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
        """Print what there is to read; False at the end of the stream, or when there is none."""
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
        """Read a dead process's last output, clear its group away, and plan its successor."""
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
        """End the programs together, then the late ones; servers are their starter's to stop."""
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
