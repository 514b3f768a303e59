"""Metrics for Prometheus: the figures of all processes, from any of them."""

import inspect
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core import mail
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from companies import services
from companies.models import Company, PlatformToken
from config import command_settings
from core.mailing import outbox
from core.mailing.jobs import send_mails
from core.measures import catalogue, counting, gauges, sums
from core.measures.counting import pending
from core.models import Mail, Pulse, Sum
from core.watch import hosts
from core.watch.doctor import Check, Finding, Grade
from deliveries import jobs, publishing
from deliveries.engine import holding
from deliveries.models import Drain, Health, HeldHost, Replay, State
from deliveries.on_demand import sample_delivery
from tests import builders as build
from tests import programs
from tests.shipments import feeding
from tests.shipments.feeding import Fed
from tickets.assignment import automatic
from tickets.statuses import Status
from tools.faults.receiver import Answer, Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations" / "metrics.md"
ROW = re.compile(r"^\| `(parceldesk_\w+)` \| (counter|gauge|histogram) \|([^|]*)\|", re.M)
Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture(autouse=True)
def nothing_counted(db: None) -> Iterator[None]:
    """Remove the counts of other tests in this process, and those that their processes wrote."""
    pending.take()
    Sum.objects.all().delete()
    yield
    pending.take()


def scrape(client: Client) -> str:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return answer.content.decode()


def figures(client: Client) -> Figures:
    return {
        (sample.name.removeprefix("parceldesk_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(scrape(client))
        for sample in family.samples
    }


def of(samples: Figures, name: str, /, **labels: str) -> float | None:
    return samples.get((name, frozenset((key.rstrip("_"), labels[key]) for key in labels)))


def fill() -> None:
    """Record events whose metrics appear only once they have happened."""
    Pulse.objects.create(name="sweep", begun_at=timezone.now(), done_at=timezone.now())
    services.issue_platform_token()
    PlatformToken.objects.update(last_used_at=timezone.now())
    check = Check("clock", lambda: "", "Mend it.", 5, per_host=True)
    hosts.store_report([(check, Finding("clock", Grade.OK, "", ""))], {}, "a")
    for each in catalogue.ALL:
        labels = ["a"] * len(each.labels)
        if isinstance(each, counting.CountMeasure):
            counting.count(each, *labels)
        else:
            counting.count_time(each, 0.2, *labels)


def test_the_manual_names_what_is_shown(client: Client, db: None) -> None:
    fill()

    shown_rows = {
        (family.name + "_total" * (family.type == "counter"), family.type): {
            label for sample in family.samples for label in sample.labels if label != "le"
        }
        for family in text_string_to_metric_families(scrape(client))
    }

    page_rows = {
        (name, kind): set(re.findall(r"`(\w+)`", labels))
        for name, kind, labels in ROW.findall(PAGE.read_text())
    }
    assert shown_rows == page_rows, (
        "docs/operations/metrics.md: a row for each metric, with its labels"
    )


def test_every_group_of_gauges_is_asked_for() -> None:
    gauges.load_gauges()
    modules = [
        sys.modules[f"{app.name}.gauges"]
        for app in apps.get_app_configs()
        if Path(app.path, "gauges.py").is_file()
    ]
    generators = {
        each
        for module in modules
        for each in vars(module).values()
        if inspect.isgeneratorfunction(each) and each.__module__ == module.__name__
    }

    assert generators - set(gauges.registered) == set(), "it lacks @gauges"


def test_promtool_has_nothing_against_it(client: Client, db: None) -> None:
    promtool = programs.program("promtool")
    fill()

    checked = subprocess.run(
        [promtool, "check", "metrics"], input=scrape(client), capture_output=True, text=True
    )

    # A rename would cost every operator's alerts more than a second name is worth.
    weeks = 'parceldesk_partition_weeks_ahead use base unit "seconds" instead of "weeks"'
    assert (checked.stdout + checked.stderr).splitlines() == [weeks]


def test_ten_thousand_webhooks_are_no_series_more(client: Client, db: None) -> None:
    fill()

    def add_webhooks(companies: int, each: int) -> None:
        """Create webhooks on separate hosts; every second one rests, all have a due delivery."""
        owners = [build.company(f"Acme {number}") for number in range(companies)]
        webhooks = Webhook.objects.bulk_create(
            Webhook(
                company=owner, type_id=3, url=f"https://{owner.pk}-{n}.example.com/", secret="5"
            )
            for owner in owners
            for n in range(each)
        )
        later = timezone.now() + timedelta(hours=1)
        Health.objects.bulk_create(
            Health(webhook=each, failures=9, resting_until=later, failing_since=timezone.now())
            for each in webhooks[::2]
        )
        for owner in owners:
            publishing.publish([build.news(owner)])

    add_webhooks(1, 2)
    before = set(figures(client))
    add_webhooks(100, 100)
    samples = figures(client)

    assert of(samples, "webhooks_resting") == 5001
    # Above that number it is PostgreSQL's estimate.
    assert (of(samples, "deliveries_waiting") or 0) >= 10_000
    assert set(samples) == before
    assert len(before) < 500


def test_gauges_leave_out_what_does_not_count(
    client: Client, company: Company, birch: Company
) -> None:
    ada, leaver = build.agent("ada"), build.agent("gone")
    for agent in (ada, leaver, None):
        for status in (Status.PENDING, Status.ACCEPTED, Status.INCOMPLETE):
            build.ticket(company, agent=agent, status=status)
    User.objects.filter(pk=leaver.user_id).update(is_active=False)
    for owner in (company, birch):
        build.webhook(owner)
        build.webhook(owner, url="")
        build.webhook(owner, active=False)
        build.webhook(owner, deleted_at=timezone.now())
    for hours, host in enumerate(("one.example.com", "two.example.com", "over.example.com")):
        holding.hold_host(host, by="root")
        HeldHost.objects.filter(pk=host).update(held_at=timezone.now() - timedelta(hours=hours + 1))
    HeldHost.objects.filter(pk="over.example.com").update(held_until=timezone.now())

    samples = figures(client)

    assert of(samples, "tickets_running") == 3
    assert of(samples, "tickets_unassigned") == 2
    assert of(samples, "webhooks") == 2
    assert (of(samples, "host_held_seconds") or 0) // 3600 == 2


def test_gauges_of_runs_and_emails_show_the_longest_wait(client: Client) -> None:
    long_ago = timezone.now() - timedelta(hours=2)
    for number in range(2):
        outbox.enqueue_mail("dev@acme.example", f"Hello {number}", "Text")
    Mail.objects.filter(subject="Hello 0").update(created_at=long_ago)
    for moved_at in (long_ago, timezone.now()):
        values = {"by": "root", "until": timezone.now(), "state": State.GIVEN_UP}
        run = Replay.objects.create(**values, total=9, rate=1)
        Replay.objects.filter(pk=run.pk).update(moved_at=moved_at)

    samples = figures(client)
    assert (of(samples, "mail_oldest_due_seconds") or 0) // 3600 == 2
    assert (of(samples, "replay_still_seconds") or 0) // 3600 == 2
    assert of(samples, "draining_seconds") == 0

    holding.drain_loops(by="root")
    Drain.objects.update(since=long_ago)

    samples = figures(client)
    assert of(samples, "replay_still_seconds") == 0
    assert (of(samples, "draining_seconds") or 0) // 3600 == 2


def test_counts_answers_by_the_pattern_of_the_address(client: Client, company: Company) -> None:
    api = APIClient(raise_request_exception=False)
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {services.issue_token(company.pk)}")
    api.get("/webhooks/4711")
    api.get("/webhooks/4712")
    api.post("/webhooks", {}, format="json")
    api.get("/nowhere/4713")
    client.generic("BREW", "/nowhere/4714")
    client.get("/c/tickets/4715")
    client.get("/admin/login/")
    client.get("/healthz")

    samples = figures(client)

    route = "webhooks/<id:webhook_id>"
    assert of(samples, "api_requests_total", route=route, method="GET", code="404") == 2
    assert of(samples, "api_requests_total", route="webhooks", method="POST", code="400") == 1
    assert of(samples, "api_requests_total", route="unmatched", method="GET", code="404") == 1
    assert of(samples, "api_requests_total", route="unmatched", method="other", code="404") == 1
    assert of(samples, "api_request_duration_seconds_count", class_="read") == 2
    assert of(samples, "api_request_duration_seconds_count", class_="write") == 1
    page = "c/tickets/<id:ticket_id>"
    assert of(samples, "api_requests_total", route=page, method="GET", code="403") == 1
    assert of(samples, "api_request_duration_seconds_count", class_="page") == 1
    assert of(samples, "desk_requests_total", method="GET", code="200") == 1
    assert of(samples, "desk_request_duration_seconds_count") == 1
    values = {value for _, labels in samples for _, value in labels}
    assert not [value for value in values if "471" in value or "healthz" in value]


def test_counts_work_of_the_worker(
    client: Client, company: Company, feed: Callable[..., Fed], monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox.enqueue_mail("ops@acme.example", "Paused", "Your webhook.")
    send_mails()
    automatic.assign(build.ticket(company))
    line = feeding.shipment(1, company.pk)
    feed(line, b"not JSON")
    feed(line)
    monkeypatch.setattr(jobs.deleted_webhooks, "cancel_deliveries", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        jobs.sweep()
    # The counts are in the database by now, whichever process counts on.
    assert Sum.objects.filter(name="mails").exists()

    samples = figures(client)

    assert len(mail.outbox) == 1
    assert of(samples, "mails_total", outcome="sent") == 1
    assert of(samples, "job_runs_total", name="send_mails", outcome="done") == 1
    assert of(samples, "job_runs_total", name="sweep", outcome="failed") == 1
    assert of(samples, "job_run_seconds_total", name="sweep") is not None
    assert of(samples, "assignments_total", outcome="nobody_available") == 1
    lines = {
        result: of(samples, "platform_feed_lines_total", result=result)
        for result in ("changed", "known", "unchanged", "bad")
    }
    assert lines == {"changed": 1, "known": 1, "unchanged": 0, "bad": 1}


def test_counts_test_sends_and_sign_ins_refused(
    client: Client, company: Company, loopback: Policy
) -> None:
    with Receiver() as receiver:
        for status in (200, 500):
            receiver.answer = lambda _, status=status: Answer(status)  # type: ignore[misc]
            sample_delivery.send(company, loopback, tracking_number="T1", url=receiver.url)
    client.post("/admin/login/", {"username": "nobody", "password": "wrong"})

    samples = figures(client)

    assert of(samples, "sample_sends_total", outcome="delivered") == 1
    assert of(samples, "sample_sends_total", outcome="refused") == 1
    assert of(samples, "logins_refused_total") == 1


def test_adds_up_what_several_processes_count(client: Client, db: None) -> None:
    for _ in range(2):  # as two processes would
        counting.count(catalogue.WEBHOOKS_HELD_BACK, by=3)
        counting.count_time(catalogue.THREAD_WAIT, 0.3)
        counting.count_time(catalogue.THREAD_WAIT, 99.0)
        assert sums.write_sums()
        pending.take()

    samples = figures(client)

    assert of(samples, "webhooks_held_back_total") == 6
    assert of(samples, "web_thread_wait_seconds_bucket", le="0.25") == 0
    assert of(samples, "web_thread_wait_seconds_bucket", le="0.5") == 2
    assert of(samples, "web_thread_wait_seconds_bucket", le="+Inf") == 4
    assert of(samples, "web_thread_wait_seconds_count") == 4
    assert of(samples, "web_thread_wait_seconds_sum") == pytest.approx(198.6)


def test_shows_what_a_version_with_other_buckets_or_labels_counted(
    client: Client, db: None
) -> None:
    Sum.objects.create(name="web_thread_wait_seconds_bucket", labels='["0.3"]', value=2)
    Sum.objects.create(name="mails", labels='["sent", "es"]', value=2)
    Sum.objects.create(name="gone", labels="[]", value=2)

    samples = figures(client)

    assert of(samples, "web_thread_wait_seconds_bucket", le="0.25") == 0
    assert of(samples, "web_thread_wait_seconds_bucket", le="0.5") == 2
    assert not any(name in ("mails_total", "gone_total") for name, _ in samples)


def test_keeps_counts_while_the_database_is_away(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OperationalError("the server closed the connection")

    counting.count(catalogue.MAILS, "sent")
    with monkeypatch.context() as away:
        away.setattr(sums.statements, "cursor", fail)
        assert not sums.write_sums()
    counting.count(catalogue.MAILS, "sent")

    assert of(figures(client), "mails_total", outcome="sent") == 2


def test_writes_nothing_while_nothing_happens_and_not_all_the_time(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(sums.time, "monotonic", lambda: now)
    monkeypatch.setattr(sums.LastWrite, "at", 0.0)
    assert not sums.are_due()
    counting.count(catalogue.MAILS, "sent")
    sums.write_if_due()
    counting.count(catalogue.MAILS, "sent")

    sums.write_if_due()
    assert Sum.objects.get().value == 1
    now += sums.EVERY_SECONDS
    sums.write_if_due()

    assert Sum.objects.get().value == 2
    assert not pending


def test_two_that_write_take_the_rows_in_one_order(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for outcome in ("sent", "failed", "given_up"):
        counting.count(catalogue.MAILS, outcome)
    counting.count(catalogue.FEED_LINES, "bad")
    counting.count(catalogue.API_REQUESTS, "webhooks", "GET", "200")

    sums.write_sums()

    rows = list(Sum.objects.order_by("pk").values_list("name", "labels"))
    assert rows == sorted(rows)
    assert len(rows) == 5


def test_a_child_does_not_count_again_what_its_parent_counted() -> None:
    counting.count(catalogue.MAILS, "sent")

    if (child := os.fork()) == 0:
        os._exit(int(bool(pending)))

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pending


def test_a_command_writes_what_it_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        command_settings.Commands,
        "execute",
        lambda _: counting.count(catalogue.ASSIGNMENTS, "assigned"),
    )

    runpy.run_path(str(PAGE.parents[2] / "manage.py"), run_name="__main__")

    assert Sum.objects.get().value == 1
