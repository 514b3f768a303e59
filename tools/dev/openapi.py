"""`./dev openapi` and `./dev schemathesis`: what other programs say of GET /schema."""

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.dev.bootstrap import PYTHON, ROOT
from tools.dev.trouble import UsageError

LINTERS = ROOT / "tools" / "dev" / "linters"
NPX: tuple[tuple[str | Path, ...], ...] = (
    ("@stoplight/spectral-cli@6", "lint", "--ruleset", LINTERS / "spectral.yaml"),
    ("@redocly/cli@2", "lint", "--config", LINTERS / "redocly.yaml"),
)
# The description is made without asking any server.
UNASKED = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "of-no-use",
    "DATABASE_URL": "postgresql://nobody@localhost/nothing",
    "BROKER_URL": "redis://localhost",
    "ENVIRONMENT": "test",
}


def check_description(arguments: list[str]) -> int:
    """Run every linter of the description, also after one has complained; the worst exit code."""
    if arguments:
        raise UsageError("openapi takes no arguments")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "openapi.json"
        make = ["manage.py", "spectacular", "--format", "openapi-json", "--fail-on-warn"]
        make.append("--skip-checks")  # of settings, which are none to serve with
        worst = run(PYTHON, *make, "--file", written)
        if worst:
            return worst
        worst = run(PYTHON, "-m", "openapi_spec_validator", written)
        if shutil.which("npx") is None:
            print("npx is not installed: spectral and redocly are not asked.")
            return worst
        return max(worst, *(run("npx", "--yes", *each, written) for each in NPX))


def run(*command: str | Path) -> int:
    return subprocess.run(command, cwd=ROOT, env=UNASKED | os.environ, check=False).returncode


def schemathesis_options(arguments: list[str]) -> dict[str, str]:
    """What tests/test_schemathesis.py reads from the environment. Raises UsageError."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    try:
        found, rest = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise UsageError(f"schemathesis: {error}") from error
    if rest:
        raise UsageError("schemathesis takes --examples NUMBER and --seed NUMBER")
    return {
        "SCHEMATHESIS_EXAMPLES": str(found.examples),
        "SCHEMATHESIS_SEED": str(found.seed),
    }
