"""Deliveries are sent again: a few at once, many as a run at a rate, which can be stopped."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from companies.models import AuditEntry, Company
from core.measures.gauges import read_gauges
from core.watch.doctor import Concern
from deliveries import doctor_checks, publishing, redelivery
from deliveries.engine import holding
from deliveries.models import Delivery, Replay, State
from deliveries.upkeep import choosing, replaying
from shipments.event_types.surcharge import SURCHARGE
from tests import builders as build
from tests.sending import deliver
from tests.tickets.racing import in_order
from tools.faults.receiver import Answer, Receiver
from webhooks import services
from webhooks.models import Webhook
from webhooks.targets import Policy

FEW = 4


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("redeliver", *arguments, stdout=out)
    return out.getvalue().strip()


def run_json(*arguments: str) -> dict:
    return json.loads(run(*arguments, "--json"))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "FEW", FEW)
    monkeypatch.setattr(choosing, "PAGE", 2)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver_:
        yield receiver_


def publish(company: Company, count: int) -> None:
    publishing.publish([build.news(company, n) for n in range(count)])


def give_up_all() -> None:
    today = timezone.now().date()
    Delivery.objects.open().update(
        state=State.GIVEN_UP, archived_on=today, finished_at=timezone.now()
    )


def given_up(company: Company, count: int, **changes: object) -> Webhook:
    """Create a webhook with N deliveries that were given up."""
    webhook = build.webhook(company, **changes)
    publish(company, count)
    give_up_all()
    return webhook


def pass_second() -> None:
    Replay.objects.update(next_at=timezone.now() - timedelta(seconds=1))


def work_off() -> int:
    """Run all replays to their end; returns the number of seconds."""
    seconds = 0
    while replaying.step_replays():
        seconds += 1
        pass_second()
        assert seconds < 100
    return seconds


def test_a_run_releases_no_more_than_its_rate_a_second(company: Company) -> None:
    given_up(company, 7)
    text = run("--company", str(company.pk), "--rate", "3", "--confirm", "7")
    assert "7 will be sent again, 3 a second" in text
    assert Delivery.objects.open().count() == 0

    assert work_off() == 3

    due = list(Delivery.objects.order_by("event_id").values_list("due_at", flat=True))
    times = sorted(set(due))
    assert due == sorted(due)
    assert [due.count(time) for time in times] == [3, 3, 1]
    replay = Replay.objects.get()
    assert (replay.passed, replay.sent, replaying.replay_state(replay)) == (7, 7, "done")


def test_a_second_has_to_pass_between_two_steps(company: Company) -> None:
    given_up(company, 7)
    run("--company", str(company.pk), "--rate", "3", "--confirm", "7")

    for _ in range(3):
        assert replaying.step_replays()
    assert Delivery.objects.open().count() == 3

    replay = Replay.objects.get()
    assert replay.next_at - replay.moved_at == timedelta(seconds=1)


def test_replayed_deliveries_arrive_in_order(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, 1) for _ in range(6)])
    deliver(loopback)
    first = [each.headers["X-Webhook-Id"] for each in receiver.log]
    receiver.log.clear()
    run("--company", str(company.pk), "--state", "delivered", "--rate", "2", "--confirm", "6")
    receiver.answer = lambda request: Answer(500 if len(receiver.log) == 1 else 200)

    while replaying.step_replays():
        deliver(loopback)
        pass_second()

    # The first of the subject failed: all others wait for it.
    assert [each.headers["X-Webhook-Id"] for each in receiver.log] == first[:1]
    assert Delivery.objects.open().count() == 6


def test_delivery_that_succeeds_meanwhile_is_not_replayed(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publish(company, 5)
    deliver(loopback)
    first = [each.headers["X-Webhook-Id"] for each in receiver.log]
    receiver.log.clear()
    run("--company", str(company.pk), "--state", "delivered", "--rate", "2", "--confirm", "5")

    for _ in range(9):
        replaying.step_replays()
        deliver(loopback)
        pass_second()

    # Several shipments at once may arrive in any order.
    assert sorted(each.headers["X-Webhook-Id"] for each in receiver.log) == sorted(first)


def test_stopped_run_sends_no_more(company: Company) -> None:
    given_up(company, 7)
    number = run_json("--company", str(company.pk), "--rate", "3", "--confirm", "7")["run"]
    replaying.step_replays()
    assert "would stop run" in run("--stop", str(number), "--dry-run")

    assert "stopped, 3 of 7" in run("--stop", str(number))

    pass_second()
    assert not replaying.step_replays()
    assert Delivery.objects.open().count() == 3
    with pytest.raises(CommandError, match="has ended"):
        run("--stop", str(number))
    with pytest.raises(CommandError, match="There is no run"):
        run("--stop", "999999999")
    assert "stopped, 3 of 7, 3 a second  by" in run("--list")
    last = AuditEntry.objects.filter(outcome__startswith="run").order_by("-pk").first()
    assert last is not None
    assert (last.act, last.about) == ("redeliver", f"run {number}")


def test_a_worker_that_is_killed_in_a_step_loses_and_repeats_nothing(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up(company, 5)
    run("--company", str(company.pk), "--rate", "2", "--confirm", "5")
    replaying.step_replays()
    pass_second()
    send = redelivery.redeliver

    def killed(ids: list) -> int:
        send(ids)
        raise OperationalError("gone")

    monkeypatch.setattr(redelivery, "redeliver", killed)
    with pytest.raises(OperationalError):
        replaying.step_replays()
    assert Delivery.objects.open().count() == 2
    monkeypatch.setattr(redelivery, "redeliver", send)

    work_off()

    replay = Replay.objects.get()
    assert (replay.passed, replay.sent) == (5, 5)
    assert len(set(Delivery.objects.open().values_list("due_at", flat=True))) == 3


def test_a_run_that_cannot_go_on_keeps_no_other_from_its_work(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up(company, 2)
    bad = run_json("--company", str(company.pk), "--rate", "2")["run"]
    good = run_json("--company", str(company.pk), "--rate", "1")["run"]
    real = replaying.choice_of

    def choice(one: Replay) -> choosing.Choice:
        if one.pk == bad:
            raise ValueError("a bad row")
        return real(one)

    monkeypatch.setattr(replaying, "choice_of", choice)
    assert replaying.step_replays()

    assert Delivery.objects.open().count() == 1
    assert Replay.objects.get(pk=good).passed == 1


def test_many_have_to_be_confirmed_by_their_number(company: Company) -> None:
    given_up(company, FEW + 1)

    for arguments in ([], ["--confirm", "4"]):
        with pytest.raises(CommandError, match="--confirm 5") as refused:
            run("--company", str(company.pk), *arguments)
        assert refused.value.returncode == 2
    assert not Replay.objects.exists()

    output = run_json("--company", str(company.pk), "--confirm", "5")
    assert (output["deliveries"], output["rate"]) == (5, replaying.USUAL_RATE)


def test_a_terminal_is_asked_for_the_number(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up(company, FEW + 1)
    out = StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    typed = iter(["4", "5"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))

    with pytest.raises(CommandError, match="not the number"):
        call_command("redeliver", company_id=company.pk, stdout=out)
    call_command("redeliver", company_id=company.pk, stdout=out)

    assert "5 deliveries to 1 webhooks of 1 companies." in out.getvalue()
    assert Replay.objects.get().total == 5


def test_a_few_are_sent_at_once(company: Company) -> None:
    given_up(company, 3)

    assert run("--company", str(company.pk), "--dry-run") == "3 would be sent again"
    assert not Delivery.objects.open().exists()
    assert run_json("--company", str(company.pk))["sent"] == 3
    assert Delivery.objects.open().count() == 3
    assert not Replay.objects.exists()
    assert run("--list") == "nothing was ever sent again as a run"


def test_a_choice_is_narrowed_by_all_that_is_given(company: Company) -> None:
    other = build.company("Other")
    one = build.webhook(company, url="https://hooks.example.com:8443/in")
    build.webhook(company, type_id=2, url="https://else.example.com/hooks.example.com")
    build.webhook(other, url="https://HOOKS.example.com/")
    for each in (company, other):
        publish(each, 1)
        publishing.publish([build.news(each, type=2)])
    give_up_all()

    def count(*arguments: str) -> int:
        return run_json(*arguments, "--dry-run")["deliveries"]

    assert count("--host", "hooks.example.com") == 2
    assert count("--host", "hooks.example.com", "--company", str(company.pk)) == 1
    assert count("--company", str(company.pk)) == 2
    assert count("--company", str(company.pk), "--type", "2") == 1
    assert count("--webhook", str(one.pk)) == 1
    assert count("--since", "2020-01-01") == 3
    assert count("--since", "2020-01-01", "--state", "delivered") == 0
    with pytest.raises(CommandError, match="no host"):
        run("--host", "https://hooks.example.com/")
    with pytest.raises(CommandError, match="Give --delivery"):
        run("--type", "2")
    with pytest.raises(CommandError, match="from 1 to"):
        run("--webhook", str(one.pk), "--rate", "0")


def test_the_count_says_what_waits_and_what_is_left_out(company: Company) -> None:
    held_webhook = given_up(company, 1, url="https://held.example.com/")
    build.webhook(company, url="https://well.example.com/")
    paused = build.webhook(company, url="https://paused.example.com/")
    deleted = build.webhook(company, url="https://gone.example.com/")
    publish(company, 1)
    give_up_all()
    services.pause(paused.pk, "for a test")
    Webhook.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    holding.hold_host("held.example.com", by="root")

    output = run_json("--company", str(company.pk), "--rate", "9", "--confirm", "4")

    assert (output["deliveries"], output["webhooks"], output["deleted"]) == (4, 3, 1)
    assert output["waiting"] == {"held": 2, "paused": 1}
    work_off()
    again = Delivery.objects.open()
    assert again.count() == 4
    assert again.filter(webhook=held_webhook).count() == 2
    assert not again.filter(webhook=deleted).exists()


def test_nothing_is_released_while_the_loops_are_drained(company: Company) -> None:
    given_up(company, 2)
    run("--company", str(company.pk), "--rate", "1")
    holding.drain_loops(by="root")

    assert replaying.step_replays()
    assert not Delivery.objects.open().exists()

    holding.resume_sending()
    assert work_off() == 3


def test_a_run_walks_over_many_webhooks_without_deliveries(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "PAGES_AT_ONCE", 1)
    for _ in range(5):
        build.webhook(company, type_id=2)
    given_up(company, 3)
    run("--company", str(company.pk), "--rate", "9")

    assert work_off() > 1

    assert Delivery.objects.open().count() == 3


def test_doctor_says_when_a_run_stands_still(company: Company) -> None:
    given_up(company, 2)
    run("--company", str(company.pk), "--rate", "1")

    assert doctor_checks.replays() == "1 under way"
    Replay.objects.update(moved_at=timezone.now() - timedelta(minutes=3))
    with pytest.raises(Concern, match="has stood still since"):
        doctor_checks.replays()
    assert "stands still since" in run("--list")


def test_metrics_say_for_how_long_a_run_has_stood_still(company: Company) -> None:
    def seconds() -> float:
        return next(
            each.samples[0].value
            for each in read_gauges()
            if each.name == "parceldesk_replay_still_seconds"
        )

    assert seconds() == 0
    given_up(company, 2)
    run("--company", str(company.pk), "--rate", "1")
    Replay.objects.update(moved_at=timezone.now() - timedelta(minutes=3))
    assert 180 <= seconds() < 300

    holding.drain_loops(by="root")
    assert seconds() == 0


def test_run_over_two_webhooks_keeps_its_rate_and_reaches_both(company: Company) -> None:
    given_up(company, 2)
    build.webhook(company, type_id=SURCHARGE.id)
    publishing.publish([build.news(company, n, type=SURCHARGE.id) for n in range(5)])
    give_up_all()
    run("--company", str(company.pk), "--rate", "3", "--confirm", "7")

    assert work_off() == 3

    replay = Replay.objects.get()
    assert (replay.total, replay.passed, replay.sent) == (7, 7, 7)
    by_webhook = Counter(Delivery.objects.open().values_list("webhook_id", flat=True))
    assert sorted(by_webhook.values()) == [2, 5]


def test_choice_leaves_out_an_erased_company_whose_webhooks_are_still_there(
    company: Company, birch: Company
) -> None:
    given_up(company, 2)
    given_up(birch, 1)
    Company.objects.filter(pk=company.pk).update(erased_at=timezone.now())
    choice = choosing.Choice(until=timezone.now())

    assert choosing.count_chosen(choice).deliveries == 1
    assert len(choosing.next_part(choice, choosing.Reached(), 9).ids) == 1


@pytest.mark.usefixtures("rows_to_keep")
def test_two_workers_take_one_step_between_them(company: Company) -> None:
    given_up(company, 7)
    number = run_json("--company", str(company.pk), "--rate", "2", "--confirm", "7")["run"]
    step = partial(replaying.step_replay, number)

    in_order(step, step)

    once = Replay.objects.get()
    assert (once.passed, once.sent) == (2, 2)
    assert Delivery.objects.open().count() == 2


@pytest.mark.usefixtures("rows_to_keep")
def test_delivery_that_moves_to_another_partition_meanwhile_is_sent_again(
    company: Company,
) -> None:
    build.webhook(company)
    publish(company, 1)
    one = Delivery.objects.get()

    _, count = in_order(give_up_all, partial(redelivery.redeliver, [one.pk]))

    assert count == 1
    assert Delivery.objects.open().get().state == State.WAITING
