"""The whole launcher once, as a person uses it: up, a ticket, a delivery, the quickstart, down."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.devtools import quickstart
from tests.devtools.test_supervisor import is_running, wait_until
from tools.dev import run
from tools.dev.bootstrap import ROOT
from tools.dev.environment import DEFAULTS, NEVER_EMPTY, shared
from tools.faults.ports import free_port

# On two busy cores it has taken one minute.
READY_WITHIN_SECONDS = 180
STOPPED_WITHIN_SECONDS = 60


class Service:
    """A `./dev run` on a data folder of its own, with its whole output so far."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        inherited = {k: v for k, v in os.environ.items() if k not in {*NEVER_EMPTY, *DEFAULTS}}
        self.environment = inherited | {"DATA_DIR": str(folder), "PORT": str(self.port)}
        self.out = folder.parent / f"{folder.name}.out"
        with self.out.open("w") as out:
            self.process = subprocess.Popen(
                [ROOT / "dev", "run"],
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def output(self) -> str:
        return self.out.read_text()

    def wait_for(self, words: str) -> str:
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        while words not in self.output():
            assert self.process.poll() is None, self.output()
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.1)
        return self.output()

    def family(self) -> list[int]:
        """Return the process and all its descendants."""
        listed = subprocess.run(
            ["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True
        )
        parents = dict(map(int, line.split()) for line in listed.stdout.splitlines()[1:])
        family = [self.process.pid]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "data")
    yield service
    service.process.kill()
    service.process.wait()
    elsewhere = tmp_path / "data" / "servers-are-in"
    if elsewhere.exists():
        subprocess.run(["rm", "-rf", elsewhere.read_text().strip()], check=True)


@pytest.mark.parametrize("given", [{}, {"PUBLIC_URL": "http://desk.example.com"}])
def test_links_in_emails_lead_to_where_it_runs(tmp_path: Path, given: dict[str, str]) -> None:
    variables = {"DATA_DIR": str(tmp_path / "data"), "PORT": str(free_port()), **given}
    started = run.Service(variables)
    try:
        address = f"http://127.0.0.1:{variables['PORT']}"
        assert started.environment["PUBLIC_URL"] == given.get("PUBLIC_URL", address)
        assert shared(started.environment)["PUBLIC_URL"] == started.environment["PUBLIC_URL"]
    finally:
        started.stop()


@pytest.mark.slow
def test_from_an_empty_folder_to_a_verified_delivery_and_down_to_nothing(
    service: Service, tmp_path: Path
) -> None:
    base = f"http://127.0.0.1:{service.port}"
    printed = service.wait_for("manage ingest -\n")
    assert f"\nReady: {base}\n" in printed
    token = re.search(r"API token +(\S+)", printed)[1]
    receiver = re.search(r"Webhooks received +(\S+)", printed)[1]
    family = service.family()

    opened = requests.post(
        f"{base}/company/tickets",
        json={"type_id": 4, "shipment_id": 1101},
        headers={"Authorization": f"Bearer {token}"},
        timeout=300,
    )
    assert opened.status_code == 200
    line = re.search(r"^echo .* ingest -$", printed, re.MULTILINE)[0]
    news = subprocess.run(  # noqa: S602 - pasted as a person would
        line,
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        env=service.environment,
    )
    assert json.loads(news.stdout) == {
        "read": 1,
        "changed": 1,
        "events": 1,
        "bad": 0,
        "known": 0,
    }
    wait_until(lambda: "out for delivery" in requests.get(receiver, timeout=120).text, 60)
    [delivery] = [
        one
        for one in requests.get(f"{receiver}/deliveries.json", timeout=120).json()
        if "out for delivery" in one["body"]
    ]
    assert delivery["verdict"] == "verified"

    screen = quickstart.follow(base, service.environment, tmp_path)
    assert "Traceback" not in screen
    webhooks = requests.get(
        f"{base}/webhooks", headers={"Authorization": f"Bearer {token}"}, timeout=30
    )
    assert [each["url"] for each in webhooks.json()["data"] if each["url"] is None] == []

    second = subprocess.run(
        [ROOT / "dev", "run"], env=service.environment, capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert second.stderr.startswith(f"dev: already running: ./dev run (process {family[0]}) {base}")

    os.killpg(service.process.pid, signal.SIGINT)
    assert service.process.wait(STOPPED_WITHIN_SECONDS) == 0
    assert not any(map(is_running, family))
