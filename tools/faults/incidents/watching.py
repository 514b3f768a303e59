"""Real Prometheus that scrapes the service and evaluates our rules, with shortened times."""

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
# Interval in which the processes write their counts.
SHORTEST_WINDOW_SECONDS = 15
# Upper limit of a shortened `for`.
LONGEST_FOR_SECONDS = 30
STARTS_WITHIN_SECONDS = 30.0


def shortened(rules: str, times: float) -> str:
    """Divide each `for` and window of the rules by `times`; thresholds stay unchanged."""

    def shorten(match: re.Match[str]) -> str:
        seconds = int(match[2]) * SECONDS[match[3]]
        if match[1] == "[":
            return f"[{max(SHORTEST_WINDOW_SECONDS, round(seconds / times))}s"
        return f"{match[1]}{shortened_for(seconds, times)}s"

    return DURATION.sub(shorten, rules)


def shortened_for(seconds: float, times: float) -> int:
    return min(LONGEST_FOR_SECONDS, max(1, round(seconds / times)))


def patience(alert: str) -> float:
    """Return the seconds of the rule's `for`, the wait before it fires in production."""
    text = RULES.read_text()
    rule = text[text.index(f"alert: {alert}\n") :].partition("- alert:")[0]
    match = re.search(r"\bfor: (\d+)([smh])", rule)
    return int(match[1]) * SECONDS[match[2]] if match else 0.0


class Watch:
    """Prometheus process: `with Watch(…) as watch:`. Raises NotHere without Prometheus."""

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
        """Return the names of firing alerts."""
        return {
            each["labels"]["alertname"]
            for each in self._ask("alerts")["alerts"]
            if each["state"] == "firing"
        }

    def wait_for(self, alert: str, seconds: float, *, fires: bool = True) -> float:
        """Wait until the alert fires, or stops; return the seconds. Raises TimeoutError."""
        is_reached: Callable[[], bool] = lambda: (alert in self.firing()) == fires  # noqa: E731
        start = time.monotonic()
        try:
            until(is_reached, seconds)
        except TimeoutError:
            verb = "did not fire" if fires else "still fires"
            raise TimeoutError(f"{alert} {verb} after {seconds:.0f} s") from None
        return time.monotonic() - start

    def _ask(self, what: str) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
            return data
