"""What operators do to sending: a host is held, all loops are drained, and go on."""

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Max

from companies.models import AuditEntry, Company
from deliveries import publishing
from deliveries.engine import holding
from deliveries.models import Delivery, Drain, HeldHost, Loop
from faults.receiver import Receiver
from tests import builders as build
from tests.sending import deliver, pass_time
from webhooks.targets import Policy


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found


def test_nothing_is_sent_to_a_host_that_is_held(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=f"{receiver.url}/held")
    build.webhook(company, url=f"http://localhost:{receiver.port}/other")
    run("hold_host", "127.0.0.1", "--reason", "their outage")
    publishing.publish([build.news(company), build.news(company)])

    deliver(loopback)

    assert [each.path for each in receiver.log] == ["/other", "/other"]
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
    assert holding.host_named(text) == host


@pytest.mark.parametrize("text", ["", "https://hooks.example.com/in", "hooks.example.com:443"])
def test_what_names_no_host_is_refused(db: None, text: str) -> None:
    with pytest.raises(CommandError, match="is no host"):
        run("hold_host", text)
    assert not HeldHost.objects.exists()


def test_what_is_not_held_cannot_be_released(db: None) -> None:
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
    monkeypatch.setattr("config.management.commands.drain.HEARD_WITHIN_SECONDS", 0.0)
    left = iter([3, 1, 0])
    monkeypatch.setattr(holding, "requests_in_flight", lambda: next(left))

    assert run("drain", "--wait", "30").endswith("0 in flight")


def test_drain_says_when_something_stays_in_flight(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.management.commands.drain.HEARD_WITHIN_SECONDS", 0.0)
    monkeypatch.setattr(holding, "requests_in_flight", lambda: 2)

    with pytest.raises(SystemExit) as ended:
        run("drain", "--wait", "0.1")

    assert ended.value.code == 1


def test_a_rehearsal_holds_nothing(db: None) -> None:
    assert run("hold_host", "hooks.example.com", "--dry-run") == "would hold hooks.example.com"
    assert run("drain", "--dry-run") == "would drain; 0 in flight"

    assert not HeldHost.objects.exists()
    assert not Drain.objects.exists()
    assert not Loop.objects.exists()
