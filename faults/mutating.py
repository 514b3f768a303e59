"""Break the code on purpose, one small change at a time, and run the app's own tests on it.

The tests run in a copy of the tree and stop at the first failure. A change that they do not notice
is missed. Prints `caught N/M` for each app; exits with 1 where an app catches less than its floor.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from devtools.places import throwaway_place
from devtools.postgres import Postgres
from devtools.processes import tether
from devtools.valkey import Valkey
from faults.broken import Mutant
from faults.broken.companies import COMPANIES
from faults.broken.config import CONFIG
from faults.broken.deliveries import DELIVERIES
from faults.broken.desk import DESK
from faults.broken.shipments import SHIPMENTS
from faults.broken.tickets import TICKETS
from faults.broken.webhooks import WEBHOOKS

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = {
    "companies": COMPANIES,
    "webhooks": WEBHOOKS,
    "deliveries": DELIVERIES,
    "shipments": SHIPMENTS,
    "tickets": TICKETS,
    "desk": DESK,
    "config": CONFIG,
}
# Share of the changes that an app's own tests must notice.
FLOORS = dict.fromkeys(MUTANTS, 0.9)
# Tests that hang have noticed as well.
LONGEST_SECONDS = 600
PASSED, FAILED = 0, 1


class Outcome(NamedTuple):
    """`caught_by` is the test that failed, or why there is none; empty if the change is missed."""

    mutant: Mutant
    caught_by: str


class Unusable(RuntimeError):
    """The run says nothing about the tests; the message says why."""


def applied(mutant: Mutant, source: str) -> str:
    """The source of `mutant.file` with the change made. Raises Unusable."""
    found = source.count(mutant.old)
    if found != 1 or mutant.new == mutant.old:
        raise Unusable(f"{mutant.name}: its text occurs {found} times in {mutant.file}")
    return source.replace(mutant.old, mutant.new)


@contextmanager
def broken_by(mutant: Mutant, tree: Path) -> Iterator[None]:
    """The change is in the tree as long as this lasts."""
    path = tree / mutant.file
    source = path.read_text()
    path.write_text(applied(mutant, source))
    try:
        yield
    finally:
        path.write_text(source)


def copy_tree(to: Path) -> Path:
    """What git knows or would add, and nothing else."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and name != ".venv":
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def test_files(tree: Path, folders: Sequence[str]) -> list[Path]:
    return [path for folder in folders for path in sorted((tree / folder).rglob("test_*.py"))]


def in_likely_order(mutant: Mutant, files: Sequence[Path]) -> list[str]:
    """Most changes are noticed in seconds: first the tests that are named like the broken module,
    or like a folder that it lies in; then those that speak of it.
    """
    path = Path(mutant.file)
    names = {path.stem, *path.parent.parts[1:]}

    def is_far(file: Path) -> tuple[bool, bool]:
        return not any(name in file.stem for name in names), path.stem not in file.read_text()

    return [str(path) for path in sorted(files, key=is_far)]


class Tests:
    """pytest in a tree, on servers that outlive it: databases are made once and used again."""

    def __init__(self, tree: Path, environment: dict[str, str], processes: int) -> None:
        self.tree = tree
        self.environment = environment
        self.processes = processes
        self.fresh = True

    def failure(self, paths: Sequence[str]) -> str:
        """The first test that fails, or why there was none; empty where all pass.

        Raises Unusable.
        """
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["--tb=no", f"-n{self.processes}"]
        command += ["--create-db" if self.fresh else "--reuse-db", *paths]
        self.fresh = False
        with subprocess.Popen(
            command,
            cwd=self.tree,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=tether(signal.SIGKILL),
        ) as process:
            try:
                output, _ = process.communicate(timeout=LONGEST_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                # Rows of a test that was broken off are still there.
                self.fresh = True
                return f"did not end in {LONGEST_SECONDS} s"
        failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if process.returncode == PASSED:
            return ""
        if process.returncode != FAILED and not failed:
            raise Unusable(f"pytest ended with {process.returncode}:\n{output[-2000:]}")
        return (failed or ["FAILED ?"])[0].partition(" ")[2].partition(" - ")[0]


def noticed_by(mutant: Mutant, tests: Tests, paths: Sequence[str]) -> str:
    """The first test that fails with the change; empty where all pass."""
    with broken_by(mutant, tests.tree):
        return tests.failure(in_likely_order(mutant, test_files(tests.tree, paths)))


def fails_anyway(test: str, tests: Tests) -> bool:
    """Whether a test fails without the change too."""
    try:
        return bool(tests.failure([test]))
    except Unusable:
        # Not every name of a parameter can be asked for.
        return False


def run_app(
    app: str, mutants: Sequence[Mutant], tests: Tests, paths: Sequence[str]
) -> list[Outcome]:
    """Each mutant in turn. Raises Unusable where the tests fail without any."""
    if why := tests.failure([*paths]):
        raise Unusable(f"The tests of {app} fail as they are: {why}")
    outcomes = []
    for mutant in mutants:
        begun = time.monotonic()
        caught_by = noticed_by(mutant, tests, paths)
        if "::" in caught_by and fails_anyway(caught_by, tests):
            # Rows or figures of an earlier run are in its way.
            tests.fresh = True
            caught_by = noticed_by(mutant, tests, paths)
        outcome = Outcome(mutant, caught_by)
        outcomes.append(outcome)
        took = f"{time.monotonic() - begun:.0f} s"
        print(f"{mutant.name}: {outcome.caught_by or 'MISSED'} ({took})", file=sys.stderr)
    return outcomes


def judge_app(app: str, outcomes: Sequence[Outcome], tell: Callable[[str], None]) -> bool:
    """Tell how many were caught and which were not; whether that is enough."""
    missed = [outcome.mutant for outcome in outcomes if not outcome.caught_by]
    caught = len(outcomes) - len(missed)
    tell(f"{app}: caught {caught}/{len(outcomes)}")
    for mutant in missed:
        tell(f"  missed {mutant.name} ({mutant.file}): {mutant.harm}")
    return caught >= FLOORS[app] * len(outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(prog="faults/mutants", description=__doc__)
    parser.add_argument("apps", nargs="*", help=f"{', '.join(MUTANTS)}; all where none is given")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these changes only")
    parser.add_argument("--walks", action="store_true", help="run tests/walks as well")
    parser.add_argument("--processes", type=int, default=0, help="of pytest (%(default)s)")
    given = parser.parse_args()
    chosen = {app: MUTANTS[app] for app in given.apps or MUTANTS if app in MUTANTS}
    if unknown := set(given.apps) - set(MUTANTS):
        parser.error(f"there is no app {', '.join(sorted(unknown))}")
    if given.only:
        chosen = {
            app: named
            for app, mutants in chosen.items()
            if (named := tuple(each for each in mutants if each.name in given.only))
        }
    # What is running ends with us, and the folder goes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    place = throwaway_place("parceldesk-mutants-")
    servers = Postgres(place, throwaway=True), Valkey(place)
    try:
        for server in servers:
            server.start_and_wait()
        environment = {"DATABASE_URL": servers[0].url, "BROKER_URL": servers[1].url}
        good = True
        for app, mutants in chosen.items():
            tree = copy_tree(place.files / app)
            paths = [f"tests/{app}", *(["tests/walks"] if given.walks else [])]
            tests = Tests(tree, environment, given.processes)
            outcomes = run_app(app, mutants, tests, paths)
            good = judge_app(app, outcomes, print) and good
        return 0 if good else 1
    except Unusable as trouble:
        print(f"faults: {trouble}", file=sys.stderr)
        return 2
    finally:
        for server in servers:
            server.stop()
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
