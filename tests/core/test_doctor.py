"""The command `doctor`: every part is checked, each problem has a cure, and nothing hangs."""

import re
import shutil
import socket
import threading
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from kombu import Connection
from pytest_django import Settings

from companies import restoring
from companies.models import Company
from core import doctor_checks
from core.data import database
from core.health import broker, postgresql
from core.models import Pulse
from core.watch import doctor
from core.watch.doctor import Check, Finding, Grade
from deliveries.engine import leases
from tests import builders as build
from tests.keys import lose_keys, new_key

OK, WARN, FAIL = Grade.OK, Grade.WARN, Grade.FAIL


def examined(name: str) -> Finding:
    """Return the finding of one check, in the test's own transaction."""
    (check,) = (check for check in doctor.all_checks() if check.name == name)
    return doctor.examine(check)


def test_few_at_once_unless_some_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound them: checks that need a connection must leave some to the service."""
    inside, most, over = [], [], threading.Event()

    def count() -> str:
        inside.append(1)
        most.append(len(inside))
        over.wait(0.01)
        inside.pop()
        return "fine"

    quick = [Check(f"quick_{number}", count, "None.", 30) for number in range(30)]
    hung = [Check(f"hung_{n}", lambda: f"{over.wait(60)}", "None.", 1) for n in range(20)]

    monkeypatch.setattr(doctor, "PATIENCE_SECONDS", 30)
    assert {findings.grade for findings in doctor.examine_all(quick)} == {Grade.OK}
    assert 1 < max(most) <= doctor.AT_ONCE

    monkeypatch.setattr(doctor, "PATIENCE_SECONDS", 0.1)
    findings = doctor.examine_all([*hung, *quick])
    over.set()
    assert [each.grade for each in findings] == [Grade.FAIL] * 20 + [Grade.OK] * 30


@pytest.mark.django_db(transaction=True)
def test_checks_share_few_connections_and_no_broken_one() -> None:
    used = set()

    def own_process() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            used.add(cursor.fetchone()[0])
        return "fine"

    def cut_off() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return "still there"

    sharing = [Check(f"sharing_{number}", own_process, "None.", 30) for number in range(20)]
    findings = doctor.examine_all(sharing, at_once=2)
    assert {each.grade for each in findings} == {Grade.OK}
    assert 1 <= len(used) <= 2

    findings = doctor.examine_all([Check("cut_off", cut_off, "None.", 30), sharing[0]], at_once=1)
    assert [each.grade for each in findings] == [Grade.FAIL, Grade.OK]


def test_every_check_has_a_name_of_its_own_and_a_cure_in_a_sentence() -> None:
    checks = doctor.all_checks()

    assert len({check.name for check in checks}) == len(checks)
    assert [check.name for check in checks if not re.fullmatch(r"[A-Z].+\.", check.cure)] == []
    assert all(check.seconds <= 20 for check in checks)


def test_a_healthy_service_is_well(company: Company, settings: Settings, tmp_path: Path) -> None:
    settings.ENVIRONMENT = "test"
    settings.DATA_DIR = str(tmp_path)
    settings.DELIVERY_LOOPS = 1
    Pulse.objects.update_or_create(name="sweep", defaults={"begun_at": timezone.now()})
    build.webhook(company, auth_token="hush-hush")
    leases.join(1)
    # Each connection is prepared when it opens; the test's migrations have reset this one.
    database.prepare_connection(connection)
    # The test's database may be a copy of another one.
    restoring.note_origin(again=True)

    findings = {check.name: doctor.examine(check) for check in doctor.all_checks()}
    unwell = {name: each for name, each in findings.items() if each.grade is not OK}

    # The machine decides these two, not the service.
    assert unwell.keys() <= {"open_files", "disk"}
    assert findings["secrets"].detail == "the newest key opens all 2"
    assert findings["database"].detail.endswith("without JIT")


@pytest.mark.django_db
def test_unsafe_settings_are_a_line_like_the_others(settings: Settings) -> None:
    settings.FIELD_KEYS = []

    finding = examined("settings")

    assert finding.grade is FAIL
    assert finding.detail.startswith("config.E001: FIELD_KEYS is empty")


def test_secrets_that_no_key_opens_are_counted_and_named(
    company: Company, settings: Settings
) -> None:
    webhook = build.webhook(company, auth_token="hush-hush")
    lose_keys(settings)

    assert examined("secrets")[1:3] == (
        FAIL,
        f"no key in FIELD_KEYS opens 2: webhook {webhook.pk}",
    )


def test_secrets_of_an_older_key_are_to_be_seen_to(company: Company, settings: Settings) -> None:
    build.webhook(company)
    settings.FIELD_KEYS = [new_key(), *settings.FIELD_KEYS]

    assert examined("secrets")[1:3] == (
        WARN,
        "1 are encrypted with an older key: run manage.py reencrypt",
    )


@pytest.mark.django_db
def test_jit_on_our_connections_is_a_failure() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = on")

    assert examined("database").grade is FAIL


@pytest.mark.django_db
def test_a_database_that_does_not_hold_every_text_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgresql, "encoding_of", lambda connection: "SQL_ASCII")

    grade, detail, cure = examined("database")[1:4]

    assert (grade, detail) == (FAIL, "the database keeps texts in SQL_ASCII instead of UTF8")
    assert "--encoding UTF8" in cure


def test_a_database_that_was_started_without_room_asks_for_room() -> None:
    def refused() -> str:
        raise OperationalError("FATAL:  could not write init file: No space left on device")

    finding = doctor.examine(Check("first", refused, "Mend it.", 5))

    assert (finding.grade, finding.cure) == (FAIL, doctor.NO_SPACE)


@pytest.mark.parametrize("check", ["database", "indexes", "clock"])
def test_a_database_that_is_away_is_said_with_its_own_cure(
    monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    def away() -> None:
        raise OperationalError("connection refused\nIs the server running?")

    for module in (database, postgresql):
        monkeypatch.setattr(module, "connection", SimpleNamespace(cursor=away))

    assert examined(check)[1:] == (FAIL, "connection refused", doctor.DATABASE_AWAY)


@pytest.mark.django_db
def test_an_engine_that_cannot_reach_the_server_is_said(settings: Settings) -> None:
    here = connection.settings_dict
    settings.ENGINE_DATABASE = {**here, "HOST": "127.0.0.1", "PORT": "1"}
    assert examined("engine_database").grade is FAIL

    settings.ENGINE_DATABASE = dict(here)
    assert examined("engine_database")[1:3] == (OK, "answers")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ahead", "grade"), [(0.0, OK), (30.0, WARN), (-30.0, WARN), (600.0, FAIL)]
)
def test_a_clock_that_is_off_is_said(
    monkeypatch: pytest.MonkeyPatch, ahead: float, grade: Grade
) -> None:
    now = timezone.now().timestamp
    monkeypatch.setattr(postgresql.time, "time", lambda: now() - ahead)

    assert examined("clock").grade is grade


@pytest.mark.parametrize(
    ("free", "grade"), [(2 * 1024**3, OK), (100 * 1024**2, WARN), (1024, FAIL)]
)
def test_a_full_disk_is_said(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    free: int,
    grade: Grade,
) -> None:
    settings.DATA_DIR = str(tmp_path)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, free))

    assert examined("disk").grade is grade


def test_a_folder_that_is_not_there_is_said(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = str(tmp_path / "nowhere")

    assert examined("disk").grade is FAIL


@pytest.fixture
def mute() -> Iterator[int]:
    """Yield the port of a mail server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_mail_server_that_says_nothing_is_given_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, mute: int
) -> None:
    monkeypatch.setattr(doctor_checks, "MAIL_SECONDS", 0.1)
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mute

    finding = examined("mail_server")
    assert finding.grade is FAIL
    assert "timed out" in finding.detail


def refuse(*_: object, **__: object) -> None:
    raise RuntimeError("OOM command not allowed when used memory > 'maxmemory'.")


def test_a_broker_that_refuses_writes_is_not_ready(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined("broker")[1:3] == (OK, "takes what is written")
    with broker.current_app.connection_for_write() as link:
        client = link.default_channel.client
        assert 0 < client.ttl(broker.PROBE) <= broker.PROBE_SECONDS

    monkeypatch.setattr(type(client), "set", refuse)

    assert examined("broker")[1:3] == (
        FAIL,
        "OOM command not allowed when used memory > 'maxmemory'.",
    )


def test_a_broker_that_is_no_redis_is_written_to_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    with Connection("memory://") as link, link.channel() as channel:
        broker.probe_write(channel)
        assert channel.queue_declare(broker.PROBE, passive=True).message_count == 2
        monkeypatch.setattr(channel, "basic_publish", refuse)
        with pytest.raises(RuntimeError, match="OOM"):
            broker.probe_write(channel)
