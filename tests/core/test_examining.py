"""Every check of doctor is a metric of each host; and hosts must be alike."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.db import connection
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from core.data import database
from core.files import storage
from core.health import host_traits
from core.health.jobs import examine_host
from core.models import HostReport
from core.watch import doctor, hosts
from core.watch.doctor import Check, Concern, Finding, Grade
from deliveries.doctor_checks import hosts_are_alike
from deliveries.engine import leases
from deliveries.models import Loop

OK, WARN, FAIL = Grade.OK, Grade.WARN, Grade.FAIL
STATES = {OK: 0, WARN: 1, FAIL: 2}
CLOCK = Check("clock", lambda: "", "Mend it.", 5, per_host=True)
VACUUM = Check("vacuum", lambda: "", "Mend it.", 5)

pytestmark = pytest.mark.django_db


def states(client: Client) -> dict[tuple[str, str | None], float]:
    text = client.get("/metrics").content.decode()
    return {
        (sample.labels["check"], sample.labels.get("host")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "parceldesk_check"
    }


def report(host: str, *, traits: dict[str, str] | None = None, **grades: Grade) -> None:
    checks = {"clock": CLOCK, "vacuum": VACUUM}
    findings = [(checks[name], Finding(name, grade, "", "")) for name, grade in grades.items()]
    hosts.store_report(findings, traits or {}, host)


def grow_older(host: str, seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE core_hostreport SET reported_at = reported_at - %s, findings = ("
            " SELECT jsonb_object_agg(key, value || jsonb_build_object("
            "  'at', (value ->> 'at')::float8 - %s)) FROM jsonb_each(findings)) WHERE name = %s",
            [timedelta(seconds=seconds), seconds, host],
        )


def test_every_check_of_doctor_is_a_figure(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "wait_at_most", lambda seconds: None)
    monkeypatch.setattr(hosts, "host_name", lambda: "a")
    monkeypatch.setattr(connection, "close", lambda: None)

    ran = examine_host()

    checks = doctor.all_checks()
    assert ran == len(checks)
    assert set(states(client)) == {(each.name, "a" if each.per_host else None) for each in checks}


def test_a_state_is_a_number(client: Client) -> None:
    report("a", clock=OK, vacuum=WARN)
    report("b", clock=FAIL)

    assert states(client) == {("clock", "a"): 0, ("clock", "b"): 2, ("vacuum", None): 1}


def test_shared_check_shows_the_latest_finding(client: Client) -> None:
    report("a", clock=OK, vacuum=FAIL)
    grow_older("a", 70)
    report("b", clock=OK, vacuum=OK)
    report("a", clock=OK)

    assert states(client)[("vacuum", None)] == 0


def test_a_host_that_has_left_is_shown_no_longer(client: Client) -> None:
    report("a", clock=FAIL)
    report("b", clock=OK)
    grow_older("a", hosts.SILENT_SECONDS + 5)

    assert states(client) == {("clock", "b"): 0}
    assert set(hosts.traits_by_host()) == {"b"}

    HostReport.objects.filter(name="a").update(reported_at=timezone.now() - timedelta(days=2))
    report("b", clock=OK)
    assert list(HostReport.objects.values_list("name", flat=True)) == ["b"]


def test_each_host_runs_its_own_and_one_of_them_the_others() -> None:
    checks = [CLOCK, VACUUM]
    assert hosts.due_checks(checks, "a") == checks

    report("a", clock=OK, vacuum=OK)
    assert hosts.due_checks(checks, "a") == []
    assert hosts.due_checks(checks, "b") == [CLOCK]

    grow_older("a", 50)
    assert hosts.due_checks(checks, "b") == checks


def test_expensive_checks_run_less_often() -> None:
    rare = CLOCK._replace(minutes=15)
    hosts.store_report([(rare, Finding("clock", OK, "", ""))], {}, "a")
    grow_older("a", 600)
    assert hosts.due_checks([rare], "a") == []

    grow_older("a", 600)
    assert hosts.due_checks([rare], "a") == [rare]


def test_time_since_the_last_check_is_a_metric(client: Client) -> None:
    assert "checks_age" not in client.get("/metrics").content.decode()

    report("a", clock=OK)
    grow_older("a", 100)

    assert 100 <= (hosts.report_age() or 0) < 200
    assert "parceldesk_checks_age_seconds 1" in client.get("/metrics").content.decode()


def own() -> dict[str, str]:
    return host_traits.own_traits()


def test_hosts_with_the_same_variables_are_alike() -> None:
    report("b", traits=own(), clock=OK)

    assert hosts_are_alike() == "2, alike"
    assert set(own()) == set(host_traits.TRAITS)
    # The traits reveal no secret.
    assert settings.SECRET_KEY not in str(HostReport.objects.get().traits)


@pytest.mark.parametrize("trait", [name for name in host_traits.TRAITS if name != "version"])
def test_hosts_that_differ_are_named(trait: str) -> None:
    report("b", traits=own() | {trait: "another"}, clock=OK)

    with pytest.raises(RuntimeError, match=f"^{trait} differs: .*b has another"):
        hosts_are_alike()


def test_another_version_is_an_upgrade_under_way() -> None:
    report("b", traits=own() | {"version": "0.9"}, clock=OK)

    with pytest.raises(Concern, match=r"^version differs: .*b has 0\.9"):
        hosts_are_alike()


def test_a_host_that_sends_and_reports_nothing_is_named() -> None:
    leases.join(1)
    Loop.objects.update(host="b", started_at=timezone.now() - timedelta(minutes=5))

    with pytest.raises(Concern, match=r"no report has come for .* from b"):
        hosts_are_alike()


def test_folders_that_are_not_the_same_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    marks = set()
    for folder in ("a", "b", "a"):
        file_storage = FileSystemStorage(location=tmp_path / folder)
        monkeypatch.setattr(storage, "default_storage", file_storage)
        marks.add(host_traits.storage_mark())

    assert len(marks) == 2


@pytest.mark.django_db(transaction=True)
def test_before_migrate_there_are_figures_and_one_that_says_so(client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE core_hostreport RENAME TO core_hostreport_to_come")
        try:
            answer = client.get("/metrics")
        finally:
            cursor.execute("ALTER TABLE core_hostreport_to_come RENAME TO core_hostreport")

    assert answer.status_code == 200
    assert b"parceldesk_schema_ok 0.0" in answer.content
    assert b"parceldesk_database_up 1.0" in answer.content
    assert b"parceldesk_engine_loops " in answer.content
