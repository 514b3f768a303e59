"""Variables in a file: the default file, a named one, wrong ones, and the first one of a host."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from config import env_files, first_env_file
from config.doctor_checks import env_file_is_private
from core.watch.doctor import Concern
from tests.config.test_settings import ROOT, manage, start


def write_file(folder: Path, text: str) -> Path:
    path = folder / "variables"
    path.write_text(text)
    return path


def test_a_process_reads_the_file_that_env_file_names(tmp_path: Path) -> None:
    path = write_file(tmp_path, "# ours\n\nexport LOG_LEVEL='loud'\n")

    started = start(ENV_FILE=str(path))

    assert started.returncode == 4
    assert "config.E013" in started.stderr


def test_environment_overrides_the_file(tmp_path: Path) -> None:
    path = write_file(tmp_path, "LOG_LEVEL=loud\n")

    assert start(ENV_FILE=str(path), LOG_LEVEL="INFO").stdout == "serving\n"


@pytest.mark.parametrize("line", ["SECRET_KEY hunter2", " LOG_LEVEL=INFO", "LOG-LEVEL=INFO"])
def test_a_wrong_line_is_named_and_not_shown(line: str, tmp_path: Path) -> None:
    path = write_file(tmp_path, f"LOG_LEVEL=INFO\n{line}\n")

    started = start(ENV_FILE=str(path))

    assert started.returncode == 4
    assert f"Line 2 of {path} is neither NAME=value" in started.stderr
    assert line not in started.stderr


def test_a_file_that_is_not_there_stops_a_start() -> None:
    started = start(ENV_FILE="/nowhere/variables")

    assert started.returncode == 4
    assert "/nowhere/variables cannot be read: No such file or directory." in started.stderr


def test_the_usual_file_is_env_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env_files, "ROOT", tmp_path)
    monkeypatch.delenv("ENV_FILE")

    assert env_files.env_file() is None
    (tmp_path / ".env").touch()
    assert env_files.env_file() == tmp_path / ".env"


def test_no_test_reads_a_file() -> None:
    assert env_files.env_file() is None


def test_doctor_warns_of_a_file_that_everybody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path, "")
    monkeypatch.setenv("ENV_FILE", str(path))

    path.chmod(0o640)
    assert env_file_is_private() == f"{path} is private"
    path.chmod(0o644)
    with pytest.raises(Concern, match="everybody on this host"):
        env_file_is_private()


def init(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run doctor --init with no variables set."""
    return subprocess.run(
        [sys.executable, "manage.py", "doctor", "--init", "--file", str(path), *options],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_the_first_file_is_private_complete_and_safe_to_start_with(tmp_path: Path) -> None:
    path = tmp_path / "variables"

    result = init(
        path,
        "--host",
        "desk.acme.example",
        "--set",
        "EMAIL_HOST=mail.acme.example",
        "--set",
        "EMAIL_FROM=desk@acme.example",
    )

    assert result.returncode == 0, result.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    names = r"^(?:# )?([A-Z][A-Z_]*)="
    example = (ROOT / ".env.example").read_text()
    assert re.findall(names, path.read_text(), re.M) == re.findall(names, example, re.M)
    checked = manage(
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        ENV_FILE=str(path),
        SECRET_KEY=None,
        FIELD_KEYS=None,
        DATABASE_URL=None,
        BROKER_URL=None,
        ALLOWED_HOSTS=None,
        EMAIL_HOST=None,
        EMAIL_FROM=None,
        FILES_DIR=None,
    )
    assert checked.returncode == 0, checked.stderr
    content = path.read_text()
    again = init(path, "--host", "desk.acme.example")
    assert (again.returncode, path.read_text()) == (1, content)
    assert "is there already" in again.stderr


@pytest.mark.slow
def test_the_first_file_needs_a_host_and_real_variables(tmp_path: Path) -> None:
    assert "--host is needed" in init(tmp_path / "a").stderr
    wrong = init(tmp_path / "a", "--host", "desk.acme.example", "--set", "lower=1")
    assert "--set takes NAME=value" in wrong.stderr
    assert list(tmp_path.iterdir()) == []


def test_keys_are_fresh_each_time() -> None:
    one, other = first_env_file.fresh_keys(), first_env_file.fresh_keys()

    assert one["SECRET_KEY"] != other["SECRET_KEY"]
    assert one["FIELD_KEYS"] != other["FIELD_KEYS"]
