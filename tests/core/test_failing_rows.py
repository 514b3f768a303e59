"""Rows that failed are retried after the others, and forgotten once they succeed."""

from datetime import timedelta

import pytest
from django.utils import timezone

from companies.models import Company
from core.jobs.failing_rows import REMEMBERED, FailingRows, TooManyFailures
from core.models import FailedRow
from tests import builders as build


def fail(keys: object) -> None:
    raise ValueError("bad row")


def test_failed_row_is_tried_again_after_all_others(company: Company, birch: Company) -> None:
    FailingRows("a job").do("company", [company.pk], fail)
    companies = Company.objects.order_by("pk")

    assert FailingRows("another job").first(companies, 2) == [company, birch]
    again = FailingRows("a job")
    assert again.first(companies, 2) == [birch, company]
    assert again.first(companies, 1) == [birch]
    assert again.first(companies.filter(pk=company.pk), 1) == [company]

    assert again.do("company", [birch.pk, company.pk], lambda keys: None) == 2

    assert not FailedRow.objects.exists()


def test_failure_of_one_row_leaves_the_others_done(db: None) -> None:
    processed: list[int] = []

    def work(keys: list[int]) -> None:
        if 3 in keys:
            raise ValueError("3 is bad")
        processed.extend(keys)

    assert FailingRows("a job").do("number", [1, 2, 3, 4, 5], work) == 4

    assert processed == [1, 2, 4, 5]
    assert FailedRow.objects.values_list("kind", "key", "error").get() == (
        "number",
        "3",
        "ValueError: 3 is bad",
    )


def test_failures_are_counted_and_forgotten_after_a_day(db: None) -> None:
    for _ in range(2):
        FailingRows("a job").do("number", [3], fail)
    assert FailedRow.objects.get().times == 2
    FailedRow.objects.update(last_at=timezone.now() - REMEMBERED - timedelta(seconds=1))

    assert not FailingRows("a job").earlier_failures
    assert not FailedRow.objects.exists()


def test_run_ends_when_everything_fails(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.jobs.failing_rows.MOST_FAILURES", 2)

    with pytest.raises(TooManyFailures, match="2 rows failed"):
        FailingRows("a job").do("number", [1, 2, 3], fail)


def test_companies_that_two_jobs_failed_on_are_kept_apart(db: None) -> None:
    one = build.company("One")
    FailingRows("a job").do("company", [one.pk], fail)

    FailingRows("another job").do("company", [one.pk], lambda keys: None)

    assert FailedRow.objects.get().job == "a job"
