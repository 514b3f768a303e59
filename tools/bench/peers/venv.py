"""Virtual environment `.venv-bench`: the peer's locked packages, apart from the service's."""

import hashlib
import shutil
import sys
from pathlib import Path

from tools.bench.progress import say
from tools.dev.bootstrap import ROOT, explained, quietly
from tools.dev.bootstrap import VENV as OURS
from tools.dev.locks import exclusively
from tools.dev.trouble import UsageError

VENV = ROOT / ".venv-bench"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "bench-stamp"
PACKAGES = ROOT / "requirements-bench.txt"


def is_installed() -> bool:
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text() == fingerprint()


def fingerprint() -> str:
    return f"{hashlib.sha256(PACKAGES.read_bytes()).hexdigest()} {VENV}\n"


def install() -> None:
    """Make `.venv-bench` agree with its lock file, unless it does already."""
    with exclusively(ROOT / ".venv-bench.lock", waiting="another run installs the peer"):
        if is_installed():
            return
        say("installing the peer's packages into .venv-bench, once")
        with explained("the peer's packages could not be installed; is there a network?"):
            quietly(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
            how = ("--quiet", "--require-hashes", "--compile-bytecode", "--python", PYTHON)
            quietly(find_uv(), "pip", "sync", *how, PACKAGES)
        STAMP.write_text(fingerprint())


def find_uv() -> str | Path:
    """Return the uv that ./dev has put into `.venv`, or the one on the PATH."""
    ours = OURS / "bin" / "uv"
    uv = ours if ours.exists() else shutil.which("uv")
    if uv is None:
        raise UsageError("uv is needed for the peer's packages; leave it out with --no-peers")
    return uv
