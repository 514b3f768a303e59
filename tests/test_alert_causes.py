"""One cause is one alert, on a service of ten webhooks and on one of ten thousand."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests import programs
from tests.test_alerts import RULE, RULES, promtool

ALERTMANAGER = RULES.with_name("alertmanager.yaml")
MINUTES = 60

# /metrics of a healthy service under steady load. Of ten thousand webhooks a few are always down,
# and of ten one is down now and then.
WELL = {
    "up{job='parceldesk'}": "1",
    "parceldesk_database_up": "1",
    "parceldesk_schema_ok": "1",
    "parceldesk_checks_age_seconds": "30",
    "parceldesk_check{check='receivers'}": "0",
    "parceldesk_check{check='broker',host='a'}": "0",
    "parceldesk_check{check='scheduler'}": "0",
    "parceldesk_part_ok{part='broker'}": "1",
    "parceldesk_part_ok{part='jobs'}": "1",
    "parceldesk_part_ok{part='database_disk'}": "1",
    "parceldesk_scheduler_age_seconds": "5",
    "parceldesk_engine_loops": "1",
    "parceldesk_engine_loops_wanted": "2",
    "parceldesk_engine_slots": "2048",
    "parceldesk_engine_slots_busy": "40",
    "parceldesk_delivery_oldest_due_seconds": "1",
    "parceldesk_job_failed_rows{name='count_figures'}": "0",
}
SIZES = {
    10: {
        "parceldesk_webhooks": "10",
        "parceldesk_webhooks_failing": "1",
        "parceldesk_delivery_attempts_total{outcome='delivered'}": "0+60",
        "parceldesk_delivery_attempts_total{outcome='failed'}": "0+1",
    },
    10_000: {
        "parceldesk_webhooks": "10000",
        "parceldesk_webhooks_failing": "150",
        "parceldesk_delivery_attempts_total{outcome='delivered'}": "0+60000",
        "parceldesk_delivery_attempts_total{outcome='failed'}": "0+900",
    },
}


class Cause(NamedTuple):
    """Series that differ from those of a healthy service; one alert must remain unsilenced."""

    name: str
    series: dict[str, str]
    alert: str


def outage(size: int) -> Cause:
    """Fail all attempts. Failing receivers rest, so few attempts remain: 17 a minute of ten."""
    failed = {10: "0+17", 10_000: "0+17000"}[size]
    return Cause(
        f"outage of {size}",
        {
            **SIZES[size],
            "parceldesk_webhooks_failing": str(size),
            "parceldesk_delivery_attempts_total{outcome='delivered'}": "0+0",
            "parceldesk_delivery_attempts_total{outcome='failed'}": failed,
            "parceldesk_check{check='receivers'}": "1",
        },
        "ParceldeskReceiversFail",
    )


CAUSES = (
    outage(10),
    outage(10_000),
    Cause(
        "the broker is gone",
        {
            "parceldesk_part_ok{part='broker'}": "0",
            "parceldesk_check{check='broker',host='a'}": "2",
            "parceldesk_part_ok{part='jobs'}": "0",
            "parceldesk_job_failed_rows{name='count_figures'}": "3",
        },
        "ParceldeskBrokerAway",
    ),
    Cause(
        "no worker runs",
        {
            "parceldesk_engine_loops": "0",
            "parceldesk_checks_age_seconds": "60+60",
            "parceldesk_scheduler_age_seconds": "60+60",
            "parceldesk_part_ok{part='jobs'}": "0",
            "parceldesk_delivery_oldest_due_seconds": "60+60",
            "parceldesk_check{check='scheduler'}": "2",
        },
        "ParceldeskWorkerAway",
    ),
    Cause(
        "the database's disk is full",
        {
            "parceldesk_part_ok{part='database_disk'}": "0",
            "parceldesk_part_ok{part='jobs'}": "0",
            "parceldesk_api_requests_total{code='503'}": "0+60",
            "parceldesk_delivery_oldest_due_seconds": "60+60",
            "parceldesk_checks_age_seconds": "60+60",
        },
        "ParceldeskDatabaseDiskFull",
    ),
    Cause(
        "a worker's clock is an hour ahead",
        {
            "parceldesk_check{check='clock',host='a'}": "2",
            "parceldesk_check{check='scheduler'}": "2",
            "parceldesk_check{check='jobs'}": "2",
        },
        "ParceldeskClockWrong",
    ),
    Cause(
        "the answers of a receiver end the worker",
        {
            "parceldesk_engine_loops_lost_total": "0+1",
            "parceldesk_deliveries_finished_total{outcome='set_aside'}": "0+1",
            "parceldesk_check{check='engine_restarts'}": "1",
        },
        "ParceldeskLoopsCrash",
    ),
    Cause(
        "a company asks without a pause",
        {"parceldesk_api_requests_total{code='429'}": "0+120"},
        "ParceldeskCallersFlood",
    ),
)


def firing(series: dict[str, str], folder: Path) -> list[dict[str, str]]:
    """Return the labels of the alerts that fire after an hour, as Prometheus computes them."""
    values = WELL | SIZES[10] | series
    trial = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {
                        "series": name.replace("'", '"'),
                        "values": f"{value if '+' in value else value + '+0'}x{2 * MINUTES}",
                    }
                    for name, value in values.items()
                ],
                "alert_rule_test": [
                    {"eval_time": f"{MINUTES + 10}m", "alertname": alert, "exp_alerts": []}
                    for alert in RULE
                ],
            }
        ],
    }
    (folder / "trial.yaml").write_text(json.dumps(trial))
    # promtool names all firing alerts, since none is expected.
    run = promtool("test", "rules", folder / "trial.yaml")
    got = re.findall(r"got:\s*\[(.*?)\n?\s*\]?\n\n", run.stdout + run.stderr + "\n\n", re.DOTALL)
    text = "\n".join(got)
    return [
        dict(re.findall(r'(\w+)="([^"]*)"', labels))
        for labels in re.findall(r"Labels:\{(.*?)\}", text)
    ]


def unsilenced(alerts: list[dict[str, str]]) -> set[str]:
    """Return the names of the alerts that no rule of the sample silences."""
    rules = yaml.safe_load(ALERTMANAGER.read_text())["inhibit_rules"]
    return {
        each["alertname"]
        for each in alerts
        if not any(
            matches(rule["target_matchers"], each)
            and any(matches(rule["source_matchers"], other) for other in alerts)
            for rule in rules
        )
    }


def matches(matchers: list[str], labels: dict[str, str]) -> bool:
    for matcher in matchers:
        match = re.fullmatch(r'(\w+)(=~|=)"(.*)"', matcher)
        assert match, matcher
        name, operator, value = match.groups()
        own = labels.get(name, "")
        if not (re.fullmatch(value, own) if operator == "=~" else own == value):
            return False
    return True


@pytest.mark.parametrize("size", SIZES)
def test_a_usual_day_is_silent(size: int, tmp_path: Path) -> None:
    assert firing(SIZES[size], tmp_path) == []


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_one_cause_is_one_alert(cause: Cause, tmp_path: Path) -> None:
    alerts = firing(cause.series, tmp_path)

    assert unsilenced(alerts) == {cause.alert}


def test_several_would_be_heard_without_the_sample(tmp_path: Path) -> None:
    broker = next(each for each in CAUSES if each.alert == "ParceldeskBrokerAway")

    assert {each["alertname"] for each in firing(broker.series, tmp_path)} >= {
        "ParceldeskBrokerAway",
        "ParceldeskJobFails",
        "ParceldeskFailedRows",
    }


def names(matchers: list[str]) -> set[str]:
    """Return the alerts that the matchers name."""
    text = next(each for each in matchers if each.startswith("alertname"))
    value = text.partition('"')[2].rstrip('"')
    prefix, _, rest = value.partition("(")
    return {prefix + each for each in rest.rstrip(")").split("|")} if rest else {value}


def test_the_sample_names_alerts_that_there_are() -> None:
    rules: list[dict[str, Any]] = yaml.safe_load(ALERTMANAGER.read_text())["inhibit_rules"]

    alerts = set().union(*(names(rule[side]) for rule in rules for side in rule))
    assert alerts - set(RULE) == set()
    for rule in rules:
        # An alert that silences itself would never be sent.
        assert not names(rule["source_matchers"]) & names(rule["target_matchers"])


def test_alertmanager_reads_the_sample() -> None:
    amtool = programs.program("amtool")

    checked = subprocess.run([amtool, "check-config", ALERTMANAGER], capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout + checked.stderr
