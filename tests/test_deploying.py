"""deploy/ and its page: the names in them exist, and production starts the Procfile's lines."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.config.test_settings import ROOT, variables
from tests.programs import program

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PAGE = (ROOT / "docs" / "operations" / "deploying.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def unit(name: str) -> dict[str, list[str]]:
    settings: dict[str, list[str]] = {}
    for line in (DEPLOY / "systemd" / name).read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(key, []).append(value)
    return settings


def procfile() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return {name: line for name, _, line in (each.partition(": ") for each in lines)}


def words(line: str) -> set[str]:
    """Return options and values, without programs and without a host's own choices."""
    line = re.sub(r"\$\([^)]*\)", "", line).partition(" && ")[0]
    line = line.replace("--worker-tmp-dir /dev/shm", "")
    chosen = r"\$|^/opt/|^127\.|%i|^(python|gunicorn|celery)$"
    return {each for each in shlex.split(line) if not re.search(chosen, each)}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0][:40])
def test_each_block_of_the_page_is_a_script(block: str) -> None:
    checked = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True)

    assert checked.returncode == 0, checked.stderr
    assert not re.search(r"\.\.\.|…|<\w+>", block), "can not be pasted as it stands"


def test_files_and_units_that_the_page_names_exist() -> None:
    files = re.findall(
        r"/opt/parceldesk/(?:current|releases/\$VERSION)/([\w./-]+)", "".join(BLOCKS)
    )
    files_named = {each for each in files if not each.startswith(".venv")}
    units = set(re.findall(r"parceldesk-[a-z]+(?=[@ \n])", "".join(BLOCKS)))

    assert {each for each in files_named if not (ROOT / each).exists()} == set()
    assert {"parceldesk-web", "parceldesk-worker"} <= units
    unit_names = {path.stem.rstrip("@") for path in UNITS}
    assert {each for each in units if each.count("-") == 1} - unit_names <= {
        "parceldesk-keys",
        "parceldesk-restored",
    }


@pytest.mark.parametrize("file", ["parceldesk.conf", "compose.conf"])
def test_a_proxy_lets_go_of_a_connection_before_the_service_does(file: str) -> None:
    """Close it first; otherwise the proxy sends a request into a closing connection."""
    theirs = re.findall(
        r"keepalive_timeout (\d+)s;", (ROOT / "deploy" / "nginx" / file).read_text()
    )
    ours = re.findall(r"--keep-alive (\d+)", (ROOT / "Procfile").read_text())

    assert int(*theirs) < int(*ours)


def test_commands_that_the_page_runs_have_these_options() -> None:
    lines = re.findall(r"(?:manage\.py|parceldesk) ([a-z_]+) ?([^\n]*)", "\n".join(BLOCKS))
    ours = [(name, rest) for name, rest in lines if name in get_commands()]
    assert {"doctor", "create_company", "issue_token", "createsuperuser"} <= {
        each for each, _ in ours
    }
    for name, rest in ours:
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        options = {option for action in parser._actions for option in action.option_strings}
        assert set(re.findall(r"(?<= )--[a-z-]+", f" {rest}")) <= options, name


@pytest.mark.parametrize("process", ["web", "worker", "release"])
def test_units_start_what_the_procfile_starts(process: str) -> None:
    at = "@" if process == "web" else ""
    (line,) = unit(f"parceldesk-{process}{at}.service")["ExecStart"]

    assert words(line) == words(procfile()[process])


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_units_may_do_as_little_as_they_say(path: Path, tmp_path: Path) -> None:
    systemd_analyze = program("systemd-analyze")
    name = path.name.replace("@", "@8001")
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", path.read_text(), flags=re.MULTILINE)
    (tmp_path / name).write_text(text)
    shutil.copy(DEPLOY / "systemd" / "parceldesk.target", tmp_path)

    verified = subprocess.run(
        [systemd_analyze, "verify", str(tmp_path / name)], capture_output=True, text=True
    )
    examined = subprocess.run(
        [systemd_analyze, "security", "--offline=true", "--threshold=20", str(tmp_path / name)],
        capture_output=True,
        text=True,
    )

    assert (verified.returncode, verified.stderr) == (0, "")
    assert examined.returncode == 0, examined.stdout


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_compose_starts_lines_of_the_procfile_and_commands() -> None:
    ours = {
        name: each["command"][0]
        for name, each in compose()["services"].items()
        if "parceldesk" in each["image"]
    }

    assert ours == {"release": "migrate", "web": "web", "worker": "worker"}
    for name in ours:
        service = compose()["services"][name]
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        # Equal to the units' limit; doctor's check open_files needs 4352.
        assert service["ulimits"] == {"nofile": 16384}
    assert set(compose()["volumes"]) == {"database", "data"}


def test_files_that_the_image_and_compose_take_exist() -> None:
    copied = re.findall(r"^COPY (?!--)(\S+)", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    mounted = [each.split(":")[0] for each in compose()["services"]["nginx"]["volumes"]]

    assert [each for each in copied if not (ROOT / each).exists()] == []
    assert [each for each in mounted if each != "./tls" and not (DEPLOY / each).exists()] == []


def test_no_image_and_no_commit_takes_the_secrets_of_a_host() -> None:
    for name in ("deploy/env", "deploy/database_password", "deploy/tls", ".env"):
        ignored = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
        assert name in ignored
        result = subprocess.run(["git", "check-ignore", "-q", f"{name}/x"], cwd=ROOT)
        assert result.returncode == 0, name


def test_a_password_in_a_file_gets_into_the_address(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("hunter2\n")

    show = "from django.conf import settings; print(settings.DATABASES['default']['PASSWORD'])"
    ran = subprocess.run(
        [DEPLOY / "process", "shell", "--no-imports", "-c", show],
        env=variables(DATABASE_PASSWORD_FILE=str(password)),
        capture_output=True,
        text=True,
    )

    assert ran.stdout == "hunter2\n", ran.stderr
