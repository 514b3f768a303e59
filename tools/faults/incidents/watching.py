"""A real Prometheus that scrapes the service and knows our rules, with their times shortened."""

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.faults.ports import free_port
from tools.faults.scenarios import until
from tools.faults.service import ROOT
from tools.faults.verdict import NotHere

RULES = ROOT / "docs" / "operations" / "alerts.yaml"
SECONDS = {"s": 1, "m": 60, "h": 3600}
DURATION = re.compile(r"(\bfor: |\[)(\d+)([smh])")
# As often as the processes write their counts down.
SHORTEST_WINDOW_SECONDS = 15
# Nor is anything waited for longer.
LONGEST_FOR_SECONDS = 30
STARTS_WITHIN_SECONDS = 30.0


def shortened(rules: str, times: float) -> str:
    """The rules with each `for` and window so many times shorter; thresholds stay as they are."""

    def shorten(found: re.Match[str]) -> str:
        seconds = int(found[2]) * SECONDS[found[3]]
        if found[1] == "[":
            return f"[{max(SHORTEST_WINDOW_SECONDS, round(seconds / times))}s"
        return f"{found[1]}{shortened_for(seconds, times)}s"

    return DURATION.sub(shorten, rules)


def shortened_for(seconds: float, times: float) -> int:
    return min(LONGEST_FOR_SECONDS, max(1, round(seconds / times)))


def patience(alert: str) -> float:
    """For how many seconds the rule waits before it fires in production: its `for`."""
    text = RULES.read_text()
    rule = text[text.index(f"alert: {alert}\n") :].partition("- alert:")[0]
    found = re.search(r"\bfor: (\d+)([smh])", rule)
    return int(found[1]) * SECONDS[found[2]] if found else 0.0


class Watch:
    """Use it as `with Watch(…) as watch:`. Raises NotHere where there is no Prometheus."""

    def __init__(self, folder: Path, target: str, times: float) -> None:
        program = shutil.which("prometheus")
        if program is None:
            raise NotHere("no prometheus: apt-get install prometheus")
        self.folder = folder / "prometheus"
        self.port = free_port()
        self.command = [
            program,
            f"--config.file={self.folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--log.level=warn",
        ]
        self.folder.mkdir()
        (self.folder / "alerts.yaml").write_text(shortened(RULES.read_text(), times))
        (self.folder / "prometheus.yml").write_text(
            json.dumps(
                {
                    "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                    "rule_files": ["alerts.yaml"],
                    "scrape_configs": [
                        {"job_name": "parceldesk", "static_configs": [{"targets": [target]}]}
                    ],
                }
            )
        )

    def __enter__(self) -> "Watch":
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        until(self.knows_the_service, STARTS_WITHIN_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(15)

    def knows_the_service(self) -> bool:
        try:
            answer = self._ask("query?query=up")
        except OSError:
            return False
        return any(each["value"][1] == "1" for each in answer["result"])

    def firing(self) -> set[str]:
        """The names of the alerts that fire now."""
        return {
            each["labels"]["alertname"]
            for each in self._ask("alerts")["alerts"]
            if each["state"] == "firing"
        }

    def wait_for(self, alert: str, seconds: float, *, fires: bool = True) -> float:
        """Seconds until the alert fires, or no longer does. Raises TimeoutError."""
        done: Callable[[], bool] = lambda: (alert in self.firing()) == fires  # noqa: E731
        start = time.monotonic()
        try:
            until(done, seconds)
        except TimeoutError:
            verb = "did not fire" if fires else "still fires"
            raise TimeoutError(f"{alert} {verb} after {seconds:.0f} s") from None
        return time.monotonic() - start

    def _ask(self, what: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
            return data
