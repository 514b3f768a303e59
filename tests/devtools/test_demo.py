import json
import stat
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tools.dev import demo
from tools.dev.bootstrap import ROOT
from tools.dev.demo_hints import Hints
from tools.dev.environment import read_private

RECEIVER = "http://127.0.0.1:8100"


class Interrupted(BaseException):
    """The launcher is killed between a service's answer and its own record of it."""


class Doors:
    """A service seen from outside, with the rows made through its commands and its API."""

    def __init__(self, interrupt_after: int) -> None:
        self.remaining = interrupt_after
        self.ids = count(1)
        self.agents: dict[str, str] = {}
        self.tokens: dict[str, int] = {}
        self.webhooks: dict[int, dict[str, Any]] = {}
        self.fed: list[dict[str, Any]] = []

    def count_down(self) -> None:
        self.remaining -= 1
        if self.remaining == 0:
            raise Interrupted

    def manage(self, *arguments: str, **variables: str) -> str:
        answer = getattr(self, arguments[0])(*arguments[1:], **variables)
        self.count_down()
        return answer

    def create_company(self, name: str) -> str:
        return json.dumps({"company_id": next(self.ids), "name": name})

    def issue_token(self, company_id: str) -> str:
        token = f"test_{next(self.ids)}"
        self.tokens[token] = int(company_id)
        return token

    def create_agent(self, username: str, *_: str, AGENT_PASSWORD: str) -> str:
        if username in self.agents:
            raise demo.Refused("manage create_agent failed: the name is taken")
        self.agents[username] = AGENT_PASSWORD
        return ""

    def ingest(self, file: str) -> str:
        self.fed = [json.loads(line) for line in Path(file).read_text().splitlines()]
        return ""

    def ask(
        self, method: str, url: str, token: str = "", body: dict[str, Any] | None = None
    ) -> tuple[int, Any]:
        if token not in self.tokens:
            return 401, {}
        if method == "GET":
            return 200, {"data": list(self.webhooks.values())}
        if method == "DELETE":
            return 200, {"data": bool(self.webhooks.pop(int(url.rpartition("/")[2])))}
        webhook = {"id": next(self.ids), "url": body["url"], "type_id": body["type_id"]}
        self.webhooks[webhook["id"]] = webhook
        self.count_down()
        return 200, {"data": webhook | {"secret": f"secret {webhook['id']}"}}


def run(doors: Doors, file: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(demo, "manage", doors.manage)
    monkeypatch.setattr(demo, "ask", doors.ask)
    new_demo = demo.Demo("http://127.0.0.1:8000", RECEIVER, file)
    new_demo.make_people()
    return new_demo.fill()


@pytest.mark.parametrize("steps", range(1, 8))
def test_interrupted_after_any_step_the_next_run_finishes_it(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doors = Doors(interrupt_after=steps)
    file = tmp_path / "demo.json"
    with pytest.raises(Interrupted):
        run(doors, file, monkeypatch)

    assert run(doors, file, monkeypatch) is True
    assert run(doors, file, monkeypatch) is False

    stored = read_private(file)
    assert doors.agents[stored["agent"]["username"]] == stored["agent"]["password"]
    assert doors.tokens[stored["token"]] == stored["company_id"]
    assert sorted(hook["type_id"] for hook in doors.webhooks.values()) == [1, 3, 5]
    for type_id, hook in stored["webhooks"].items():
        assert doors.webhooks[hook["id"]]["type_id"] == int(type_id)
        assert hook["secret"] == f"secret {hook['id']}"
    assert {line["kind"] for line in doors.fed} == {
        "shipment",
        "tracking",
        "surcharge",
        "incidence",
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_makes_a_new_demo_in_a_database_that_does_not_know_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "demo.json"
    run(Doors(interrupt_after=0), file, monkeypatch)
    another = Doors(interrupt_after=0)

    assert run(another, file, monkeypatch) is True
    assert read_private(file)["token"] in another.tokens


def test_hints_can_be_pasted_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = {"company_id": 3, "token": "test_x", "agent": {"username": "agent", "password": "pw"}}
    data = tmp_path / "with space"
    data.mkdir()

    monkeypatch.setenv("PWD", str(ROOT))
    assert "| ./dev manage ingest -" in Hints(stored, "http://x", RECEIVER, ROOT / ".dev").text()
    monkeypatch.setenv("PWD", "/")
    elsewhere = Hints(stored, "http://x", RECEIVER, data)
    assert f"| DATA_DIR='{data}' {ROOT}/dev manage ingest -" in elsewhere.text()
    assert f"python3 {ROOT}/clients/listen.py --forward " in elsewhere.text()
    assert stat.S_IMODE(Path(elsewhere.keep()).stat().st_mode) == 0o600
