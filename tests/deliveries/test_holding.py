"""Operators control sending: they hold a host, drain all loops, and resume."""

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Max
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import AuditEntry, Company
from deliveries import publishing
from deliveries.engine import holding, recording, rendering, setting_aside
from deliveries.engine.lending import sendable_addresses
from deliveries.models import Delivery, Drain, Health, HeldHost, Loop
from deliveries.monitoring import backlog, log
from deliveries.upkeep import choosing
from tests import builders as build
from tests.sending import deliver, pass_time
from tools.faults.receiver import Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver_:
        yield receiver_


def test_nothing_is_sent_to_a_host_that_is_held(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=f"{receiver.url}/held")
    build.webhook(company, url=f"http://localhost:{receiver.port}/other")
    run("hold_host", "127.0.0.1", "--reason", "their outage")
    publishing.publish([build.news(company), build.news(company)])

    deliver(loopback)

    assert [each.path for each in receiver.log] == ["/other", "/other"]
    # The rest of half a minute is not the receiver's fault.
    assert Health.objects.filter(resting_until__gt=timezone.now()).count() == 1
    assert backlog.count_unwell() == (0, 0)
    waiting = Delivery.objects.open()
    assert waiting.count() == 2
    assert waiting.aggregate(attempts=Max("attempts"), step=Max("step")) == {
        "attempts": 0,
        "step": 0,
    }
    assert "their outage" in run("hold_host", "--list")

    run("release_host", "127.0.0.1")
    pass_time(timedelta(seconds=2))
    deliver(loopback)

    assert [each.path for each in receiver.log][2:] == ["/held", "/held"]
    assert not HeldHost.objects.exists()
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == [
        "hold_host",
        "release_host",
    ]


def test_a_hold_ends_by_itself(company: Company, receiver: Receiver, loopback: Policy) -> None:
    webhook = build.webhook(company, url=receiver.url)
    run("hold_host", "127.0.0.1", "--hours", "6")
    publishing.publish([build.news(company)])
    deliver(loopback)
    assert receiver.log == []

    HeldHost.objects.update(held_until=timezone.now())
    pass_time(timedelta(seconds=30))
    deliver(loopback)

    assert len(receiver.log) == 1
    assert log.health(webhook, timezone.now())["condition"] == "well"
    assert run("hold_host", "--list") == "no host is held"
    with pytest.raises(CommandError, match="is not held"):
        run("release_host", "127.0.0.1")


def test_second_hold_updates_the_settings_and_keeps_the_start(db: None) -> None:
    run("hold_host", "hooks.example.com", "--hours", "6", "--reason", "first")
    since = HeldHost.objects.get().held_at
    run("hold_host", "hooks.example.com", "--reason", "second")

    row = HeldHost.objects.get()
    assert (row.held_at, row.held_until, row.reason) == (since, None, "second")


@pytest.mark.parametrize("hours", ["0", "-1", "721", "nan"])
def test_holds_for_some_hours_and_not_for_ever(db: None, hours: str) -> None:
    with pytest.raises(CommandError, match="--hours takes"):
        run("hold_host", "hooks.example.com", f"--hours={hours}")


def test_says_how_many_webhooks_it_concerns(company: Company) -> None:
    for url in ("https://a.example/1", "https://A.example:8443/2", "https://b.a.example/"):
        build.webhook(company, url=url)
    build.webhook(company, url="https://a.example/3", deleted_at=timezone.now())

    assert run("hold_host", "a.example") == "holding a.example, webhooks there: 2"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://envíos.example/in", "xn--envos-1sa.example"),
        ("https://xn--envos-1sa.example:8443/in", "envíos.example"),
        ("https://a.example./in", "a.example"),
        ("https://a.example.:8443/in", "A.example."),
        ("https://[2606:4700:0:0::1111]/in", "2606:4700::1111"),
    ],
)
def test_a_host_is_held_however_its_urls_are_written(
    company: Company, loopback: Policy, url: str, name: str
) -> None:
    build.webhook(company, url=url)
    build.webhook(company, url="https://b.example/in")
    host = holding.parse_host(name)

    assert run("hold_host", name) == f"holding {host}, webhooks there: 1"
    there = Webhook.objects.alias(place=choosing.HOST_IN_URL).filter(choosing.at_hosts([host]))
    assert [each.url for each in there] == [url]

    publishing.publish([build.news(company)])
    deliver(loopback)
    far = timezone.now() + timedelta(seconds=3)
    resting = Health.objects.filter(resting_until__gt=far)
    assert [each.webhook.url for each in resting] == [url]
    run("release_host", name)
    assert not resting.all().exists()


def test_a_loop_that_has_not_heard_of_a_release_holds_nothing_back(company: Company) -> None:
    """Send it (seed 17 of the simulation): an event came before the loop's next heartbeat."""
    webhook = build.webhook(company, url="https://hooks.example.com/in")

    ready = sendable_addresses(rendering.addresses([webhook.pk]), frozenset({"hooks.example.com"}))

    assert list(ready) == [webhook.pk]
    assert not Health.objects.exists()


def rests_for(webhook: Webhook) -> float:
    """Return for how many more seconds a webhook rests."""
    webhook.health.refresh_from_db()
    until = webhook.health.resting_until
    return (until - timezone.now()).total_seconds() if until else 0.0


@pytest.mark.parametrize(
    ("failures", "rests", "asked_seconds", "most"),
    [
        # Seed 20423 of the simulation: a receiver that had failed once waited 30 s.
        (1, 0, 0, 2),
        # Seed 3006: a receiver with as many errors as make a silent one rest did so, too.
        (recording.FAILURES_BEFORE_REST, 0, 0, 2),
        # A receiver that was silent before the hold is asked at once, not half a minute later.
        (recording.FAILURES_BEFORE_REST, 1, 0, 2),
        # It rests for as long as it asked for.
        (1, 1, 20, 20),
        (recording.FAILURES_BEFORE_REST, 1, 20, 20),
    ],
)
def test_a_release_ends_all_rests_but_those_that_receivers_asked_for(
    company: Company, failures: int, rests: int, asked_seconds: int, most: int
) -> None:
    webhook = build.webhook(company, url="https://hooks.example.com/in")
    asked_until = timezone.now() + timedelta(seconds=asked_seconds)
    Health.objects.create(webhook=webhook, failures=failures, rests=rests, asked_until=asked_until)
    run("hold_host", "hooks.example.com")
    assert holding.wait_for_hosts({webhook.pk: "hooks.example.com"}) == {webhook.pk}

    run("release_host", "hooks.example.com")

    assert most - 5 < rests_for(webhook) <= most


def test_a_release_ends_no_rest_at_another_host(company: Company) -> None:
    there, elsewhere = (
        build.webhook(company, url=f"https://[2606:4700::{place}]/in") for place in ("1111", "2222")
    )
    setting_aside.postpone([there.pk, elsewhere.pk])
    run("hold_host", "2606:4700::1111")

    run("release_host", "2606:4700::1111")

    assert rests_for(there) <= 2
    assert rests_for(elsewhere) > 2


def test_a_company_reads_that_its_host_is_held_and_not_the_operators_reason(
    api: APIClient, company: Company
) -> None:
    webhook = build.webhook(company, url="https://hooks.example.com:8443/in")
    page = f"/webhooks/{webhook.pk}/health"
    run("hold_host", "hooks.example.com", "--reason", "private words")
    row = HeldHost.objects.get()

    health = api.get(page).json()["data"]

    since = f"{row.held_at:%Y-%m-%d %H:%M:%S}"
    assert health["condition"] == "held"
    assert health["hold"] == {"since": since, "until": None, "reason": None}
    setting_aside.postpone([webhook.pk])
    assert api.get(page).json()["data"]["resting_until"] is None

    text = "You asked us to wait."
    run("hold_host", "hooks.example.com", "--hours", "1", "--tell-companies", text)
    hold = api.get(page).json()["data"]["hold"]
    assert hold["reason"] == text
    assert hold["until"] > since

    run("release_host", "hooks.example.com")
    health = api.get(page).json()["data"]
    assert health["hold"] is None
    assert health["condition"] != "held"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Hooks.Example.COM", "hooks.example.com"),
        ("envíos.example", "xn--envos-1sa.example"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("192.0.2.7", "192.0.2.7"),
    ],
)
def test_a_host_is_named_as_urls_have_it(text: str, host: str) -> None:
    assert holding.parse_host(text) == host


@pytest.mark.parametrize("text", ["", "https://hooks.example.com/in", "hooks.example.com:443"])
def test_text_that_names_no_host_is_refused(db: None, text: str) -> None:
    with pytest.raises(CommandError, match="is no host"):
        run("hold_host", text)
    assert not HeldHost.objects.exists()


def test_host_that_is_not_held_cannot_be_released(db: None) -> None:
    with pytest.raises(CommandError, match="is not held"):
        run("release_host", "hooks.example.com")


def test_drained_loops_claim_nothing_until_they_go_on(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    assert json.loads(run("drain", "--reason", "new network", "--json"))["in_flight"] == 0
    publishing.publish([build.news(company)])

    deliver(loopback)
    assert receiver.log == []
    assert Drain.objects.get().reason == "new network"

    assert run("resume").startswith("sending again")
    deliver(loopback)
    assert len(receiver.log) == 1
    assert run("resume") == "nothing was drained"


def test_draining_waits_for_what_is_in_flight(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deliveries.management.commands.drain.HEARD_WITHIN_SECONDS", 0.0)
    in_flight = iter([3, 1, 0])
    monkeypatch.setattr(holding, "requests_in_flight", lambda: next(in_flight))

    assert run("drain", "--wait", "30").endswith("0 in flight")


def test_drain_says_when_something_stays_in_flight(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deliveries.management.commands.drain.HEARD_WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(holding, "requests_in_flight", lambda: 2)

    with pytest.raises(SystemExit) as ended:
        run("drain", "--wait", "0.1")

    assert ended.value.code == 1


def test_a_rehearsal_holds_nothing(db: None) -> None:
    rehearsed = run("hold_host", "hooks.example.com", "--dry-run")
    assert rehearsed == "would hold hooks.example.com, webhooks there: 0"
    assert run("drain", "--dry-run") == "would drain; 0 in flight"

    assert not HeldHost.objects.exists()
    assert not Drain.objects.exists()
    assert not Loop.objects.exists()
