"""Pauses, sweeps, partitions and retention."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from companies.models import Company
from companies.services import set_active
from core.mailing.jobs import send_mails
from deliveries import jobs, publishing
from deliveries.engine import pausing, recording
from deliveries.models import OPEN, Attempt, Delivery, Event, Health, LoggedAttempt, State
from deliveries.monitoring import backlog
from deliveries.publishing import News
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result
from webhooks import services
from webhooks.models import Webhook


def finish(count: int) -> None:
    for _ in range(count):
        recording.record_attempts([result(claim_one())])


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_pauses_a_webhook_that_has_only_failed_for_five_days(
    company: Company, mailoutbox: list
) -> None:
    company.contact_email = "dev@acme.example"
    company.save()
    failing, recent, resumed = (build.webhook(company) for _ in range(3))
    old = timezone.now() - timedelta(days=5, minutes=1)
    Webhook.objects.filter(pk=resumed.pk).update(resumed_at=timezone.now())
    for webhook, since in ((failing, old), (recent, timezone.now()), (resumed, old)):
        Health.objects.create(webhook=webhook, failures=9, failing_since=since)

    assert pausing.pause_failing() == 1
    send_mails()

    paused = Webhook.objects.get(active=False)
    assert paused == failing
    assert paused.paused_reason == "No delivery has succeeded for 5 days."
    assert [letter.to for letter in mailoutbox] == [["dev@acme.example"]]
    assert f"webhook {failing.pk}" in mailoutbox[0].body
    assert pausing.pause_failing() == 0


def test_deliveries_of_a_paused_webhook_wait_for_it(company: Company) -> None:
    webhook = build.webhook(company)
    services.pause(webhook.pk, "for a test")
    publishing.publish([build.news(company)])
    assert backlog.oldest_due() is None

    services.change_webhook(company, webhook.pk, active=True)

    assert backlog.oldest_due() is not None
    finish(1)


def test_the_sweep_says_that_it_came_by(company: Company) -> None:
    jobs.sweep()

    assert timezone.now() - backlog.last_pulse() < timedelta(seconds=10)


def test_the_sweep_cancels_what_waits_for_a_deleted_webhook(company: Company) -> None:
    deleted, remaining = build.webhook(company), build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    services.delete_webhook(company, deleted.pk)

    jobs.sweep()

    states = {
        webhook.pk: set(webhook.deliveries.values_list("state", flat=True))
        for webhook in (deleted, remaining)
    }
    assert states == {deleted.pk: {State.CANCELLED}, remaining.pk: {State.WAITING}}


def age(days: int) -> None:
    """Move everything that is finished back in time, to the partition of its day."""
    then = datetime.now(UTC) - timedelta(days=days)
    with connection.cursor() as cursor:
        cursor.execute("SELECT deliveries_make_partitions(%s, 2)", [then.date()])
    Event.objects.update(created_at=then)
    Delivery.objects.update(created_at=then)
    Delivery.objects.exclude(archived_on=OPEN).update(finished_at=then, archived_on=then.date())
    LoggedAttempt.objects.update(started_at=then)


def about_a_ticket(company: Company) -> News:
    return build.news(company, None, ticket_id=41)


# Eight days after any day its whole week is over, and its partition is dropped.
@pytest.mark.parametrize(("days", "older_than"), [(3, 2), (40, 32)])
def test_prunes_what_is_old(company: Company, days: int, older_than: int) -> None:
    build.webhook(company)
    publishing.publish([*(build.news(company, n) for n in range(2)), about_a_ticket(company)])
    finish(3)
    age(days=days)
    publishing.publish([build.news(company, 9)])
    finish(1)

    rehearsed = run("prune", "--older-than", f"{older_than}", "--dry-run")
    assert Delivery.objects.count() == Event.objects.count() == 4
    assert "would" in rehearsed

    run("prune", "--older-than", f"{older_than}")

    assert Delivery.objects.count() == Event.objects.count() == Attempt.objects.count() == 1
    assert Delivery.objects.get().subject_id == 9
    if days == 40:
        assert "would drop deliveries_delivery_" in rehearsed


def test_prunes_nothing_that_still_waits(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    age(days=20)

    run("prune", "--older-than", "0")

    assert Delivery.objects.get().state == State.WAITING
    assert Event.objects.exists()


@pytest.mark.parametrize("off", ["webhook", "company"])
def test_cancels_what_waited_for_a_paused_webhook_all_the_while(company: Company, off: str) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    age(days=20)
    if off == "webhook":
        services.pause(webhook.pk, "for a test")
    else:
        set_active(company.pk, False)

    run("prune", "--older-than", "10")

    assert not Delivery.objects.exists()
    assert not Event.objects.exists()


@pytest.mark.parametrize("days", ["-1", "nan"])
def test_refuses_to_prune_the_future(db: None, days: str) -> None:
    with pytest.raises(CommandError, match="--older-than"):
        run("prune", "--older-than", days)


def test_redelivers_by_delivery_webhook_and_window(company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(3)])
    for _ in range(3):
        recording.record_attempts([result(claim_one(), state=State.GIVEN_UP, status=500)])
    first = Delivery.objects.order_by("event_id")[0]
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()

    assert run("redeliver", "--webhook", str(webhook.pk), "--dry-run") == "3 would be sent again\n"
    assert not Delivery.objects.open().exists()
    assert run("redeliver", "--delivery", str(first.pk)) == "1 will be sent again\n"
    assert run("redeliver", "--since", tomorrow, "--until", tomorrow) == "0 will be sent again\n"
    assert run("redeliver", "--until", tomorrow) == "2 will be sent again\n"
    assert Delivery.objects.open().count() == 3


def test_redelivers_nothing_unless_told_what(db: None) -> None:
    with pytest.raises(CommandError, match="Give --delivery"):
        run("redeliver")
    with pytest.raises(CommandError, match="There is no delivery"):
        run("redeliver", "--delivery", "01a1fa12-91b9-736b-934f-6c5b515fd1da")
