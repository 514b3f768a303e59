"""Each alert fires when it should and not before, and links to a page with instructions."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests import programs
from tools.faults.incidents.following import runbooks

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "docs" / "operations" / "alerts.yaml"
RULE = {
    rule["alert"]: rule
    for group in yaml.safe_load(RULES.read_text())["groups"]
    for rule in group["rules"]
}


class Case(NamedTuple):
    """Series as promtool writes them, a value a minute: `well` at first, `ill` from then on.

    The alert fires after `after` ill minutes with this summary, and not before half of its `for`.
    """

    alert: str
    series: dict[str, tuple[str, str]]
    after: int
    summary: str
    labels: dict[str, str] = {}


def gauge(name: str, well: float, ill: float) -> dict[str, tuple[str, str]]:
    return {name: (f"{well}x30", f"{ill}x300")}


def rising(name: str, well: float, ill: float) -> dict[str, tuple[str, str]]:
    """Build a counter that rises by these values in a minute."""
    return {name: (f"0+{well}x30", f"{31 * well}+{ill}x300")}


ATTEMPTS = "parceldesk_delivery_attempts_total"
REQUESTS = "parceldesk_api_requests_total"
BUCKETS = "parceldesk_api_request_duration_seconds_bucket"
DISK = 'mountpoint="/srv/data",fstype="xfs",instance="db1"'

CASES = [
    Case(
        "ParceldeskAway",
        gauge('up{job="parceldesk",instance="web1"}', 1, 0),
        2,
        "No web process answers",
        {"job": "parceldesk", "instance": "web1"},
    ),
    Case(
        "ParceldeskDatabaseAway",
        gauge("parceldesk_database_up", 1, 0),
        2,
        "PostgreSQL does not answer; the API answers 503, deliveries wait",
    ),
    Case(
        "ParceldeskDatabaseDiskFull",
        gauge('parceldesk_part_ok{part="database_disk"}', 1, 0),
        2,
        "PostgreSQL cannot write a file; what writes is answered 503",
        {"part": "database_disk"},
    ),
    Case(
        "ParceldeskMigrationsMissing",
        gauge("parceldesk_schema_ok", 1, 0),
        6,
        "The database is not of the version that runs",
    ),
    Case(
        "ParceldeskWorkerAway",
        gauge("parceldesk_engine_loops", 2, 0),
        2,
        "No engine loop is alive, so nothing is sent",
    ),
    Case(
        "ParceldeskClockWrong",
        gauge('parceldesk_check{check="clock",host="web2"}', 0, 2),
        6,
        "The clock of web2 is not the database's",
        {"check": "clock", "host": "web2"},
    ),
    Case(
        "ParceldeskHostsDiffer",
        gauge('parceldesk_check{check="hosts"}', 1, 2),
        6,
        "Hosts differ in what they must have in common",
        {"check": "hosts"},
    ),
    Case(
        "ParceldeskCheckFails",
        gauge('parceldesk_check{check="files",host="web2"}', 1, 2),
        11,
        "doctor says fail beside files",
        {"check": "files", "host": "web2"},
    ),
    Case(
        "ParceldeskChecksSilent",
        {
            "parceldesk_checks_age_seconds": ("30x30", "400x300"),
            "parceldesk_database_up": ("1x30", "1x300"),
        },
        6,
        "No worker has run the checks for minutes, so nobody would see that one fails",
    ),
    Case(
        "ParceldeskReceiversFail",
        gauge('parceldesk_check{check="receivers"}', 0, 1),
        4,
        "Most webhooks that something is sent to began to fail, which is on our side",
        {"check": "receivers"},
    ),
    Case(
        "ParceldeskDeliveriesLate",
        gauge("parceldesk_delivery_oldest_due_seconds", 60, 180),
        3,
        "A delivery has been due for 3m 0s",
    ),
    Case(
        "ParceldeskQueueGrows",
        {"parceldesk_deliveries_waiting": ("90000x30", "100000+1000x300")},
        40,
        "140000 deliveries wait, and more come in than go out",
    ),
    Case(
        "ParceldeskAttemptsFail",
        {
            **rising(f'{ATTEMPTS}{{outcome="delivered"}}', 600, 100),
            **rising(f'{ATTEMPTS}{{outcome="failed",error="timeout"}}', 10, 900),
        },
        25,
        "90% of all attempts fail",
    ),
    Case(
        "ParceldeskReceiversDown",
        {
            **gauge("parceldesk_webhooks_failing", 20, 21),
            **gauge("parceldesk_webhooks", 400, 400),
        },
        16,
        "21 webhooks fail, and have something waiting",
    ),
    Case(
        "ParceldeskHostHeld",
        gauge("parceldesk_host_held_seconds", 86400, 90000),
        1,
        "An operator has held a host for 1d 1h 0m 0s",
    ),
    Case(
        "ParceldeskDraining",
        gauge("parceldesk_draining_seconds", 1800, 3600),
        1,
        "Nothing has been sent for 1h 0m 0s, as an operator ran drain",
    ),
    Case(
        "ParceldeskReplayStandsStill",
        gauge("parceldesk_replay_still_seconds", 600, 900),
        1,
        "Deliveries that are to be sent again have not moved on for 15m 0s",
    ),
    Case(
        "ParceldeskProxyAway",
        gauge('parceldesk_part_ok{part="outgoing_proxy"}', 1, 0),
        3,
        "Nothing gets out through the outgoing proxy; deliveries wait",
        {"part": "outgoing_proxy"},
    ),
    Case(
        "ParceldeskLoopsMissing",
        {
            "parceldesk_engine_loops": ("1x30", "1x300"),
            "parceldesk_engine_loops_wanted": ("2x30", "2x300"),
            "parceldesk_engine_slots": ("2048x30", "2048x300"),
            "parceldesk_engine_slots_busy": ("511x30", "512x300"),
        },
        6,
        "1 engine loops are alive and pressed, fewer than DELIVERY_LOOPS",
    ),
    Case(
        "ParceldeskLoopsCrash",
        {
            **rising("parceldesk_engine_loops_lost_total", 0, 2),
            "parceldesk_engine_loops_wanted": ("2x30", "2x300"),
        },
        4,
        "8 engine loops crashed or hung within 10 minutes",
    ),
    Case(
        "ParceldeskDeliverySetAside",
        rising('parceldesk_deliveries_finished_total{outcome="set_aside"}', 0, 1),
        1,
        "Deliveries were set aside, as our own process fails on them",
        {"outcome": "set_aside"},
    ),
    Case(
        "ParceldeskBrokerAway",
        gauge('parceldesk_part_ok{part="broker"}', 1, 0),
        6,
        "The broker takes nothing; the service goes on without it",
        {"part": "broker"},
    ),
    Case(
        "ParceldeskSchedulerAway",
        gauge("parceldesk_scheduler_age_seconds", 12, 90),
        6,
        "No scheduler has begun a sweep for 1m 30s",
    ),
    Case(
        "ParceldeskJobFails",
        gauge('parceldesk_part_ok{part="jobs"}', 1, 0),
        11,
        "A job does not succeed",
        {"part": "jobs"},
    ),
    Case(
        "ParceldeskFailedRows",
        gauge('parceldesk_job_failed_rows{name="send_mails"}', 0, 3),
        61,
        "send_mails goes on without 3 rows that it fails on",
        {"name": "send_mails"},
    ),
    Case(
        "ParceldeskPartitionsRunOut",
        gauge('parceldesk_partition_weeks_ahead{table="deliveries_event"}', 8, 1),
        121,
        "deliveries_event has partitions for 1 weeks",
        {"table": "deliveries_event"},
    ),
    Case(
        "ParceldeskRestRows",
        gauge('parceldesk_partition_rest_occupied{table="deliveries_event"}', 0, 1),
        121,
        "Rows of deliveries_event lie outside of its weeks",
        {"table": "deliveries_event"},
    ),
    Case(
        "ParceldeskDiskFillsUp",
        gauge('parceldesk_disk_free_ratio{folder="files"}', 0.5, 0.08),
        11,
        "8% of the disk of files is free",
        {"folder": "files"},
    ),
    Case(
        "ParceldeskDatabaseDiskFillsUp",
        {
            f"node_filesystem_avail_bytes{{{DISK}}}": ("50x30", "5x300"),
            f"node_filesystem_size_bytes{{{DISK}}}": ("100x30", "100x300"),
        },
        11,
        "5% of /srv/data on db1 is free",
        {"mountpoint": "/srv/data", "instance": "db1"},
    ),
    Case(
        "ParceldeskApiErrors",
        {
            **rising(f'{REQUESTS}{{code="200"}}', 1000, 900),
            **rising(f'{REQUESTS}{{code="503"}}', 1, 100),
        },
        15,
        "10% of the API's answers are 5xx",
    ),
    Case(
        "ParceldeskApiSlow",
        {
            **rising(f'{BUCKETS}{{le="1.0"}}', 1000, 900),
            **rising(f'{BUCKETS}{{le="5.0"}}', 1000, 1000),
            **rising(f'{BUCKETS}{{le="+Inf"}}', 1000, 1000),
        },
        30,
        "One in a hundred requests takes longer than 4.6s",
    ),
    Case(
        "ParceldeskCallersFlood",
        # The addresses of two web processes show the same figures.
        {
            f'{key[:-1]},instance="{host}"}}': values
            for host in ("web1", "web2")
            for key, values in {
                **rising(f'{REQUESTS}{{code="200"}}', 900, 900),
                **rising(f'{REQUESTS}{{code="429"}}', 59, 120),
            }.items()
        },
        12,
        "2 requests a second are refused, as somebody asks without a pause",
    ),
    Case(
        "ParceldeskSecretsUnreadable",
        rising("parceldesk_webhooks_held_back_total", 0, 4),
        6,
        "No key in FIELD_KEYS opens the secrets of some webhooks, whose deliveries wait",
    ),
    Case(
        "ParceldeskTicketsUnassigned",
        gauge("parceldesk_tickets_unassigned", 0, 7),
        31,
        "7 tickets have no agent",
    ),
    Case(
        "ParceldeskFeedSilent",
        gauge("parceldesk_platform_feed_age_seconds", 3600, 7200),
        11,
        "The platform was last heard 2h 0m 0s ago",
    ),
    Case(
        "ParceldeskMailStuck",
        gauge("parceldesk_mail_oldest_due_seconds", 60, 7200),
        11,
        "An email has been waiting for 2h 0m 0s",
    ),
]
WELL_MINUTES = 31


def expectation(case: Case, minute: int, *, fires: bool) -> dict[str, Any]:
    rule = RULE[case.alert]
    expected = {
        "exp_labels": {**case.labels, **rule["labels"]},
        "exp_annotations": {
            "summary": case.summary,
            "runbook": rule["annotations"]["runbook"],
        },
    }
    return {
        "eval_time": f"{minute}m",
        "alertname": case.alert,
        "exp_alerts": [expected] if fires else [],
    }


def trial(case: Case) -> dict[str, Any]:
    pending = int(re.sub(r"\D", "", RULE[case.alert].get("for", "0m")))
    pending *= 60 if RULE[case.alert].get("for", "").endswith("h") else 1
    return {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": f"{well} {ill}"} for name, (well, ill) in case.series.items()
        ],
        "alert_rule_test": [
            expectation(case, WELL_MINUTES - 1, fires=False),
            *([expectation(case, WELL_MINUTES + pending // 2, fires=False)] if pending > 1 else []),
            expectation(case, WELL_MINUTES + case.after, fires=True),
        ],
    }


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs.program("promtool"), *map(str, arguments)], capture_output=True, text=True
    )


def test_prometheus_reads_the_rules() -> None:
    checked = promtool("check", "rules", RULES)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_fires_when_it_should_and_no_sooner(tmp_path: Path) -> None:
    trials = {"rule_files": [str(RULES)], "tests": [trial(case) for case in CASES]}
    (tmp_path / "trials.yaml").write_text(json.dumps(trials))

    tested = promtool("test", "rules", tmp_path / "trials.yaml")

    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_each_alert_has_a_case() -> None:
    assert sorted(case.alert for case in CASES) == sorted(RULE)


@pytest.mark.parametrize("alert", RULE)
def test_leads_to_a_runbook_that_knows_it(alert: str) -> None:
    page, _, anchor = RULE[alert]["annotations"]["runbook"].partition("#")

    assert page == "docs/operations/runbooks.md"
    assert f"`{alert}`" in runbooks()[anchor]


def test_the_runbooks_begin_with_a_table_of_all_alerts() -> None:
    page = (RULES.parent / "runbooks.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| \[.+\]\((#[\w-]+)\) \|$", page, re.MULTILINE)

    assert rows == sorted(rows)
    assert dict(rows) == {
        alert: rule["annotations"]["runbook"].removeprefix("docs/operations/runbooks.md")
        for alert, rule in RULE.items()
    }


def dashboard() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((RULES.parent / "dashboard.json").read_text())
    return parsed


def expressions() -> list[str]:
    """Return the queries of the dashboard's panels."""
    return [
        target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])
    ]


def test_prometheus_understands_what_the_dashboard_asks(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{at}", "expr": query} for at, query in enumerate(expressions())]
    (tmp_path / "panels.yaml").write_text(
        json.dumps({"groups": [{"name": "panels", "rules": rules}]})
    )

    checked = promtool("check", "rules", tmp_path / "panels.yaml")

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_metric_is_one_that_is_shown() -> None:
    """Compare with the page of metrics, which is tested against the output of /metrics."""
    exported = set(re.findall(r"`(parceldesk_\w+)`", (RULES.parent / "metrics.md").read_text()))
    queries = " ".join([RULES.read_text(), *expressions()])
    used = {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"parceldesk_\w+", queries)
    }

    assert used - exported == set()


def test_panels_do_not_lie_on_each_other() -> None:
    occupied: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & occupied, panel["title"]
        assert at["x"] + at["w"] <= 24
        occupied |= cells
