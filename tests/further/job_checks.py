"""Consequences of a job, a count and a gauge: `mark_samples`, `samples`, `samples_open` (rows.py).

Run by test_further.py, which says how to run one by itself.
"""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from core import doctor_checks
from core.jobs.job import MOST_PERIODS, SOME_TIME, Job, all_jobs
from core.jobs.scheduler import Scheduler
from core.models import Pulse
from deliveries.tasks import run_job
from tests import builders as build
from tests.core import test_jobs, test_metrics
from tests.core.test_metrics import figures, of
from tickets.models import Ticket

pytestmark = pytest.mark.django_db
JOB = "mark_samples"


def marked() -> int:
    return Ticket.objects.filter(carrier_name="sample").count()


def test_the_scheduler_runs_it_when_it_is_due_and_what_is_done_stays_done(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        build.ticket(company)
    scheduler = Scheduler()
    # Others would start children, and the alarm of a run is also that of a test.
    alone = {JOB: all_jobs()[JOB]}
    monkeypatch.setattr("core.jobs.scheduler.all_jobs", lambda: alone)
    monkeypatch.setattr(Job, "run_within_limit", Job.run)

    # It does a batch, and reports that there is more.
    assert scheduler.run_due_jobs() == 0
    assert marked() == 2
    scheduler.run_due_jobs()
    assert marked() == 3
    build.ticket(company)
    scheduler.run_due_jobs()
    assert marked() == 3

    Pulse.objects.filter(name=JOB).update(begun_at=timezone.now() - timedelta(minutes=1))
    scheduler.run_due_jobs()
    assert marked() == 4


def test_new_work_rings_for_the_job(company: Company) -> None:
    build.ticket(company)

    run_job(JOB)
    run_job(JOB)

    assert marked() == 1


def test_doctor_and_metrics_show_it_without_a_word_of_their_own(
    company: Company, client: Client
) -> None:
    build.ticket(company)
    run_job(JOB)

    samples = figures(client)

    assert of(samples, "job_runs_total", name=JOB, outcome="done") == 1
    assert of(samples, "job_age_seconds", name=JOB) is not None
    assert of(samples, "samples_total", how="marked") == 1
    assert of(samples, "samples_open") == 1
    long_ago = timezone.now() - max(SOME_TIME, timedelta(minutes=MOST_PERIODS)) * 2
    Pulse.objects.filter(name=JOB).update(begun_at=long_ago, done_at=long_ago)
    with pytest.raises(RuntimeError, match=JOB):
        doctor_checks.jobs()


def test_the_tests_ask_for_the_lines_that_the_recipes_name(client: Client) -> None:
    with pytest.raises(AssertionError, match="say here how often a new job runs"):
        test_jobs.test_jobs_run_at_the_documented_intervals()
    with pytest.raises(AssertionError, match=r"metrics\.md: a row for each metric"):
        test_metrics.test_the_manual_names_what_is_shown(client, None)
    test_jobs.test_jobs_and_measures_are_defined_in_the_modules_that_are_loaded()
    test_metrics.test_every_group_of_gauges_is_asked_for()
