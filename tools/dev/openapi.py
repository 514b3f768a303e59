"""`./dev openapi` and `./dev schemathesis`: checks of GET /schema by other programs."""

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
# The description is generated without any server.
UNASKED = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "of-no-use",
    "DATABASE_URL": "postgresql://nobody@localhost/nothing",
    "BROKER_URL": "redis://localhost",
    "ENVIRONMENT": "test",
}


def check_description(arguments: list[str]) -> int:
    """Run every linter of the description, even after a failure; return the highest exit code."""
    if arguments:
        raise UsageError("openapi takes no arguments")
    with tempfile.TemporaryDirectory() as folder:
        description = Path(folder) / "openapi.json"
        make = ["manage.py", "spectacular", "--format", "openapi-json", "--fail-on-warn"]
        make.append("--skip-checks")  # these settings are not fit for serving
        worst = run(PYTHON, *make, "--file", description)
        if worst:
            return worst
        worst = run(PYTHON, "-m", "openapi_spec_validator", description)
        if shutil.which("npx") is None:
            print("npx is not installed: spectral and redocly are not asked.")
            return worst
        return max(worst, *(run("npx", "--yes", *each, description) for each in NPX))


def run(*command: str | Path) -> int:
    return subprocess.run(command, cwd=ROOT, env=UNASKED | os.environ, check=False).returncode


def schemathesis_options(arguments: list[str]) -> dict[str, str]:
    """Return the variables for tests/test_schemathesis.py. Raises UsageError."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    try:
        options, rest = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise UsageError(f"schemathesis: {error}") from error
    if rest:
        raise UsageError("schemathesis takes --examples NUMBER and --seed NUMBER")
    return {
        "SCHEMATHESIS_EXAMPLES": str(options.examples),
        "SCHEMATHESIS_SEED": str(options.seed),
    }
