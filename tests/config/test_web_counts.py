"""Counters of web processes, written however busy their threads are."""

from pathlib import Path

import pytest
from django.db import connection

from core.models import Sum
from tests.config.web import as_company, asking_for, running
from tests.waiting import wait_until


def sums_of(name: str) -> float:
    return sum(Sum.objects.filter(name=name).values_list("value", flat=True))


@pytest.mark.usefixtures("rows_to_keep")
def test_counts_are_written_during_requests_and_at_the_end(tmp_path: Path) -> None:
    before = sums_of("mails")
    with running(tmp_path, constants={"core.measures.sums.EVERY_SECONDS": 0.0}) as web:
        web.ask(asking_for("count"))
        for number in range(8):
            web.connect(as_company(str(number), "held"))
        web.is_asked("/held", 8)
        wait_until(lambda: sums_of("mails") == before + 1, "the count")
        assert sums_of("web_thread_wait_seconds_sum") > 0
        web.open_gate()

    with running(tmp_path, constants={"core.measures.sums.EVERY_SECONDS": 1e9}) as web:
        web.ask(asking_for("count"))
        refused = sums_of("web_refusals")
        web.ask(b"nothing\r\n\r\n")

    assert sums_of("mails") == before + 2
    assert sums_of("web_refusals") == refused + 1
    wait_until(lambda: not others_connected(), "the connections to end")


def others_connected() -> int:
    """Return the number of connections to this database besides our own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])
