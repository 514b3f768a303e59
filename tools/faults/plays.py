"""Runs of scenarios and tests for the catalogue, each at most once."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tools.dev.processes import tether
from tools.faults.book.fault import Fault

ROOT = Path(__file__).resolve().parents[2]
TESTS = "tests/"
HOSTILE = "hostile"
# Long enough to stop servers and processes.
STOP_WITHIN_SECONDS = 30
LONGEST_SECONDS = 1800
# Sizes at which the catalogue takes about half an hour; the scenarios' defaults are larger.
SIZES = {
    "kills": ["--times", "3"],
    "storm": ["--updates", "4000", "--kills", "6"],
    "restarts": ["--events", "2000", "--times", "3"],
    "cut-network": ["--seconds", "15"],
    "broker-refuses": ["--seconds", "12"],
    "flushed-broker": ["--times", "5"],
    "memory": ["--events", "20000"],
    "hostile": ["--seconds", "6"],
}
# Scenarios with an option --seed.
SEEDED = {"kills", "storm"}


class Played(NamedTuple):
    """Broken promises of a play, or the reason why this machine cannot play it."""

    broken: tuple[str, ...] = ()
    why_not: str = ""


class Plays:
    """Runner of scenarios and tests: `with Plays(seed, faults, tell) as plays: plays.play(…)`."""

    def __init__(self, seed: int, faults: Sequence[Fault], tell: Callable[[str], None]) -> None:
        self.seed = seed
        self.tell = tell
        self.played: dict[str, Played] = {}
        self._groups = [
            [play for fault in faults if fault.group == group for play in fault.plays]
            for group in dict.fromkeys(fault.group for fault in faults)
        ]
        self._folder = Path(tempfile.mkdtemp(prefix="parceldesk-faults-"))

    def __enter__(self) -> "Plays":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def play(self, name: str) -> Played:
        """Play it once; tests run together with all others of their group."""
        if name not in self.played:
            if name.startswith(TESTS):
                self._run_tests(name)
            else:
                self._run_scenario(name.partition(" ")[0])
        return self.played[name]

    def _run_scenario(self, name: str) -> None:
        """Run a scenario; all attacks are one run of theirs."""
        self.tell(f"playing {name}")
        command = [sys.executable, "-m", "tools.faults", name, *SIZES.get(name, [])]
        command += ["--seed", str(self.seed)] if name in SEEDED else []
        output = self._run(command)
        try:
            figures = json.loads(output)
        except ValueError:
            errors = (self._folder / "stderr").read_text(errors="replace").splitlines()
            figures = {"broken": [f"it ended without figures: {' | '.join(errors[-3:])}"]}
        whole = Played(tuple(figures.get("broken", ())), figures.get("why_not", ""))
        self.played[name] = whole
        attacks = figures.get("attacks", {})
        for play in [play for group in self._groups for play in group]:
            scenario, _, attack = play.partition(" ")
            if scenario == name and attack:
                result = attacks.get(attack)
                self.played[play] = (
                    Played(tuple(result["broken"]), result["why_not"]) if result else whole
                )

    def _run_tests(self, wanted: str) -> None:
        group = next(group for group in self._groups if wanted in group)
        names = list(dict.fromkeys(play for play in group if play.startswith(TESTS)))
        self.tell(f"playing {len(names)} tests")
        report = self._folder / "report.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        self._run([*command, f"--junitxml={report}", *names])
        self.played |= read_report(report, names)

    def _run(self, command: Sequence[str]) -> str:
        """Run a command to its end and return its stdout. It does not outlive us."""
        # Do not pass on our servers: it starts its own.
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ,
            stdout=subprocess.PIPE,
            stderr=(self._folder / "stderr").open("wb"),
            text=True,
            preexec_fn=tether(signal.SIGTERM),
        ) as process:
            try:
                return process.communicate(timeout=LONGEST_SECONDS)[0]
            except subprocess.TimeoutExpired:
                return ""
            finally:
                stop(process)


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(STOP_WITHIN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def read_report(report: Path, names: Sequence[str]) -> dict[str, Played]:
    """Read each test's outcome from pytest's report."""
    cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []  # noqa: S314 - pytest's own
    cases_by_name = {name: [case for case in cases if is_named(case, name)] for name in names}
    return {name: outcome_of(those) for name, those in cases_by_name.items()}


def is_named(case: ElementTree.Element, name: str) -> bool:
    """Return True if the name is that of the test, of all its parameters, or of its file."""
    file, _, test = name.partition("::")
    if case.get("classname") != file.removesuffix(".py").replace("/", "."):
        return False
    case_name = case.get("name", "")
    return not test or case_name == test or case_name.startswith(f"{test}[")


def outcome_of(cases: Sequence[ElementTree.Element]) -> Played:
    if not cases:
        return Played(("it did not run",))
    broken = tuple(
        (trouble.get("message") or "it failed").split("\n")[0]
        for case in cases
        for kind in ("failure", "error")
        for trouble in case.iter(kind)
    )
    skipped = [case.find("skipped") for case in cases]
    if not broken and all(each is not None for each in skipped):
        return Played(why_not=str(skipped[0].get("message")))  # type: ignore[union-attr]
    return Played(broken)
