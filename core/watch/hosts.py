"""Reports of hosts: each stores the state of doctor's checks, so that /metrics reads one table.

A finding ages out by itself when its host or its check falls silent. Times are the database's.
"""

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction

from core.watch.doctor import STATES, Check, Finding

EVERY_SECONDS = 60
# Periods of its check for which a finding counts.
PERIODS = 4
SILENT_SECONDS = PERIODS * EVERY_SECONDS
FORGET_SECONDS = 86_400
# A check is due this long before its period is over, since runs do not begin to the second.
EARLY_SECONDS = 15

STORE = """
INSERT INTO core_hostreport AS host (name, reported_at, findings, traits)
SELECT %(name)s, statement_timestamp(), coalesce(jsonb_object_agg(check_name, jsonb_build_object(
    'state', state, 'per_host', per_host, 'period', period,
    'at', extract(epoch FROM statement_timestamp()))), '{}'), %(traits)s
FROM unnest(%(names)s::text[], %(states)s::integer[], %(periods)s::integer[], %(own)s::boolean[])
  AS finding(check_name, state, period, per_host)
ON CONFLICT (name) DO UPDATE SET reported_at = excluded.reported_at,
  findings = host.findings || excluded.findings, traits = excluded.traits
"""
FORGET = """
DELETE FROM core_hostreport
WHERE reported_at < statement_timestamp() - make_interval(secs => %s)
"""
FINDINGS = """
SELECT finding.key, host.name, (value ->> 'state')::integer, (value ->> 'per_host')::boolean,
  extract(epoch FROM statement_timestamp())::float8 - (value ->> 'at')::float8,
  (value ->> 'period')::integer
FROM core_hostreport AS host CROSS JOIN jsonb_each(host.findings) AS finding
ORDER BY finding.key, (value ->> 'at')::float8
"""
AGE = """
SELECT extract(epoch FROM statement_timestamp() - max(reported_at))::float8
FROM core_hostreport
"""
TRAITS = """
SELECT name, traits::text FROM core_hostreport
WHERE reported_at > statement_timestamp() - make_interval(secs => %s)
ORDER BY name
"""


class CheckState(NamedTuple):
    """State of a check. `host` is None if the check finds the same on all hosts.

    `age` is in seconds, and `period` how often the check is run.
    """

    check: str
    host: str | None
    state: int
    age: float
    period: int


def host_name() -> str:
    return socket.gethostname()[:255]


def store_report(
    findings: Sequence[tuple[Check, Finding]], traits: Mapping[str, str], name: str
) -> None:
    """Store the findings of the host `name`, and delete hosts that have been silent for a day."""
    values: dict[str, Any] = {
        "name": name,
        "traits": json.dumps(traits),
        "names": [check.name for check, _ in findings],
        "states": [STATES[finding.grade] for _, finding in findings],
        "periods": [EVERY_SECONDS * check.minutes for check, _ in findings],
        "own": [check.per_host for check, _ in findings],
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(STORE, values)
        cursor.execute(FORGET, [FORGET_SECONDS])


def current_reports() -> list[CheckState]:
    """Return the newest state of each check, of each host where hosts may differ."""
    with connection.cursor() as cursor:
        cursor.execute(FINDINGS)
        rows = cursor.fetchall()
    newest = {}
    for check, host, state, per_host, age, period in rows:
        if age <= PERIODS * period:
            where = host if per_host else None
            newest[check, where] = CheckState(check, where, state, age, period)
    return list(newest.values())


def due_checks(checks: Sequence[Check], host: str) -> list[Check]:
    """Return the checks that have not been run on this host, or on any, for their period."""
    fresh = {
        (report.check, report.host)
        for report in current_reports()
        if report.age < report.period - EARLY_SECONDS
    }
    return [
        check for check in checks if (check.name, host if check.per_host else None) not in fresh
    ]


def report_age() -> float | None:
    """Return the age of the newest report in seconds, or None if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(AGE)
        age: float | None = cursor.fetchone()[0]
        return age


def traits_by_host() -> dict[str, dict[str, str]]:
    """Return the traits of each host that has reported lately."""
    with connection.cursor() as cursor:
        cursor.execute(TRAITS, [SILENT_SECONDS])
        return {name: json.loads(traits) for name, traits in cursor.fetchall()}
