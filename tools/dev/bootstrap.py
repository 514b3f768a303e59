"""Setup of `.venv` with the locked packages in a fresh clone; standard library only."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.dev.locks import exclusively
from tools.dev.processes import tether
from tools.dev.trouble import UsageError, say

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "dev-stamp"
PACKAGES = ROOT / "requirements-dev.txt"
UV = ROOT / "tools" / "dev" / "uv.txt"

# uv's names for pip's settings of package indexes.
UV_NAMES = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_NO_INDEX": "UV_NO_INDEX",
    "PIP_CERT": "SSL_CERT_FILE",
}

USAGE = """\
usage: ./dev COMMAND

  run                    the whole service on this machine, with a demo company: PostgreSQL,
                         Valkey, web, worker, and a page that shows the webhooks it sends
  test [ARGUMENT ...]    the tests, on throwaway servers; arguments go to pytest, without any
                         all that take no minutes run on several processes; --slow runs
                         the slow ones, as .ci/run does too; --whole runs every test, and
                         fails on a skip;
                         --postgresql FOLDER runs them on the PostgreSQL whose programs lie there
  manage COMMAND ...     a management command on the data of `run`, whether it is up or not;
                         ./dev manage help lists them
  lint                   style, types and templates: what ruff, mypy and djlint say
  translate [CODE ...]   the sentences of the code into locale/, compiled for Django; fails where
                         one has no translation yet or says a word that docs/spanish.md bans;
                         a CODE such as fr begins a language
  openapi                the API's description: what openapi-spec-validator, spectral and redocly
                         say; the last two need npx and a network
  schemathesis           every operation, asked what its description allows and what it does not;
                         --examples NUMBER of each kind of request, --seed NUMBER

  simulate               the engine on one thread, with time and failures drawn from seeds;
                         --seeds N, --from S, --minutes M, --story FILE (docs/simulation.md)

environment (a variable that is set always wins):

  PORT                   of the web server: 8000, or the next free one
  DATA_DIR               database, secrets and demo of `run` and `manage`: .dev/
  DATABASE_URL           a PostgreSQL to use instead of the private one
  BROKER_URL             a Redis, Valkey or RabbitMQ to use instead of the private one
  PG_BIN                 folder with another PostgreSQL's programs; --postgresql sets it
"""
COMMANDS = ("run", "test", "manage", "lint", "translate", "openapi", "schemathesis", "simulate")


def main(arguments: list[str]) -> None:
    """Check the command's name, install the packages, then continue inside `.venv`."""
    command = arguments[0] if arguments else ""
    if command in ("help", "-h", "--help"):
        print(USAGE, end="")
        return
    try:
        check(command)
    except UsageError as trouble:
        sys.exit(f"dev: {trouble}")
    run_module("tools.dev", arguments)


def run_module(module: str, arguments: list[str]) -> None:
    """Install the packages, then become `python -m module` inside `.venv`; never returns."""
    try:
        install_packages()
    except UsageError as trouble:
        sys.exit(f"dev: {trouble}")
    environment = os.environ | {"PYTHONPATH": python_path()}
    os.execve(PYTHON, [str(PYTHON), "-m", module, *arguments], environment)  # noqa: S606


def check(command: str) -> None:
    """Refuse an unknown command before packages are installed."""
    if not command:
        sys.exit(USAGE)
    if command not in COMMANDS:
        raise UsageError(f"no command {command!r}; there are {', '.join(COMMANDS)} and help")


def python_path() -> str:
    """Return PYTHONPATH with the checkout first, so that `tools` is found from any folder."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def install_packages() -> None:
    """Make `.venv` agree with the lock file; if it does already, no network is used."""
    if is_current():
        return
    if not os.access(VENV if VENV.exists() else ROOT, os.W_OK):
        raise UsageError(
            f"the packages in {VENV} are missing or old, and the folder is not writable"
        )
    with exclusively(ROOT / ".venv.lock", waiting="another ./dev is installing the packages"):
        if not is_current():
            install()


def is_current() -> bool:
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text() == fingerprint()


def fingerprint() -> str:
    """Return lock hash and path of `.venv`: installed scripts contain the path."""
    lock = hashlib.sha256(PACKAGES.read_bytes() + UV.read_bytes()).hexdigest()
    return f"{lock} {VENV}\n"


def install() -> None:
    STAMP.unlink(missing_ok=True)
    if not runs(PYTHON, "--version"):
        say("creating .venv")
        with explained("the virtual environment could not be created"):
            quietly(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
    say("installing the locked packages into .venv (once, up to a minute)")
    pip = find_pip()
    try:
        sync_by_uv(find_uv(pip))
    except subprocess.CalledProcessError as error:
        say(f"uv failed ({last_line(error)}); trying pip, which is slower")
        with explained("the packages could not be installed; is there a network?"):
            quietly(*pip, "install", "--quiet", "--require-hashes", "-r", PACKAGES)
    STAMP.write_text(fingerprint())


def find_pip() -> list[str | Path]:
    """Find the command of a pip that can install into `.venv`; empty if there is none.

    Debian's Python comes without ensurepip and often with a pip that may not touch the system;
    pointed at `.venv` it may.
    """
    if runs(sys.executable, "-m", "pip", "--version"):
        return [sys.executable, "-m", "pip", "--python", PYTHON]
    if runs(PYTHON, "-m", "pip", "--version") or runs(PYTHON, "-m", "ensurepip"):
        return [PYTHON, "-m", "pip"]
    return []


def find_uv(pip: list[str | Path]) -> str | Path:
    """Return uv of `.venv`, installed by pip at a pinned version, or else from the PATH."""
    uv = VENV / "bin" / "uv"
    if runs(uv, "--version"):
        return uv
    if pip:
        quietly(*pip, "install", "--quiet", "--require-hashes", "-r", UV)
        return uv
    if uv_on_path := shutil.which("uv"):
        return uv_on_path
    raise UsageError(
        "this Python has neither pip nor ensurepip; install them"
        " (Debian, Ubuntu: apt install python3-venv), or uv, and try again"
    )


def sync_by_uv(uv: str | Path) -> None:
    how = ("--quiet", "--require-hashes", "--compile-bytecode", "--python", PYTHON)
    quietly(uv, "pip", "sync", *how, PACKAGES)


def quietly(*command: str | Path) -> None:
    """Run a command without output. Raises CalledProcessError, which has the output."""
    # pip trusts the system's certificate authorities by itself; uv needs a setting.
    environment = {"UV_SYSTEM_CERTS": "true", "PIP_RETRIES": "2"}
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for theirs, ours in UV_NAMES.items():
        if theirs in os.environ:
            environment[ours] = os.environ[theirs]
    environment |= os.environ
    subprocess.run(
        command,
        check=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=tether(signal.SIGTERM),
    )


def runs(*command: str | Path) -> bool:
    """Return True if a command, such as one with `--version`, can be run and succeeds."""
    try:
        quietly(*command)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def last_line(error: subprocess.CalledProcessError) -> str:
    lines = [line.strip() for line in (error.stdout or "").splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {error.returncode}"


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Convert a failed command into a UsageError: what failed, and its last line of output."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        raise UsageError(f"{what} ({last_line(error)})") from error
