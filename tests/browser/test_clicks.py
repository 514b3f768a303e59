"""The jobs of docs/desk.md's table and the acts that each takes: a key or a click counts as one.

Typed text is not counted, nor the second look that N18 asks for.
"""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Chromium, Tab
from tests.browser.test_shift import Call, calls
from tickets.models import Agent, Ticket
from tickets.statuses import Status

__all__ = ["calls"]

LIST = "/admin/tickets/ticket/"


class Counting:
    """A tab that counts what is pressed."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.acts = 0

    def press(self, *keys: str) -> None:
        self.acts += len(keys)
        self.tab.press(*keys)

    def leave_by(self, *keys: str) -> None:
        self.acts += len(keys)
        self.tab.leave_by(*keys)

    def acts_since_last(self) -> int:
        acts, self.acts = self.acts, 0
        return acts


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada", available=False)


@pytest.fixture
def window(chromium: Chromium, live_server: LiveServer, desk: Client) -> Iterator[Tab]:
    with chromium.tab(live_server.url, viewport={"width": 1440, "height": 900}) as tab:
        tab.sign_in(desk)
        yield tab
    assert tab.complaints == []


@pytest.mark.slow
def test_jobs_take_as_many_acts_as_the_manual_says(
    window: Tab, calls: Call, company: Company, ada: Agent
) -> None:
    tab, count = window, Counting(window)
    shipment = build.shipment(company, 4101)
    build.macro("Proof of value", text="Please send it.", move_to=4, requested="Invoice")
    due = timezone.now() - timedelta(days=1)
    late = [
        build.ticket(
            company,
            agent=build.agent(f"agent-{number}"),
            status=Status.IN_REVIEW,
            due_at=due + timedelta(minutes=number),
        ).pk
        for number in range(8)
    ]
    wanted = build.ticket(company, shipment_id=4101, agent=ada, status=Status.IN_REVIEW).pk
    first = build.ticket(company).pk
    build.agent("ben")

    tab.visit(f"{LIST}?queue=overdue")
    tab.sees("tr.data-row")
    count.leave_by("t")
    assert (tab.ticket, count.acts_since_last()) == (first, 1)

    count.press("r")
    tab.focused("#text")
    tab.type("We look into it.")
    count.leave_by("Control+Enter")
    tab.sees(".desk-agent", "We look into it.")
    box = "document.getElementById('send-reply').getBoundingClientRect().bottom <= innerHeight"
    tab.wait_for(box)
    assert (tab.ticket, count.acts_since_last()) == (first, 2)

    count.press("m")
    tab.focused("#macro")
    tab.type("Proof")
    count.leave_by("Control+Enter")
    tab.sees(".desk-head .desk-pill", "Incomplete")
    assert count.acts_since_last() == 2

    count.press("h")
    tab.focused("#hand-over-to")
    tab.type("ben")
    count.leave_by("Control+Enter")
    tab.sees(".desk-facts", "ben")
    assert count.acts_since_last() <= 3
    assert str(Ticket.objects.get(pk=first).agent) == "ben"

    calls("POST", f"/company/tickets/{first}/comments", comment="Here it is.")
    tab.sees(".desk-company", "Here it is.")
    assert (tab.ticket, count.acts_since_last()) == (first, 0)

    count.press("Control+k")
    tab.focused("#palette-text")
    tab.type(shipment.tracking_number)
    count.leave_by("Enter")
    assert (tab.ticket, count.acts_since_last()) == (wanted, 2)

    # Decline three ticked tickets, and go on with those that have come in their place.
    tab.visit(f"{LIST}?queue=overdue")
    tab.sees("tr.data-row")
    count.press("x", "x", "x")
    count.leave_by("d")
    tab.focused("[data-codes] input")
    count.press("c")
    tab.type("Too late for a claim.")
    count.leave_by("Control+Enter")
    tab.sees("tr.data-row", f"#{late[3]}")
    assert tab.url.endswith("queue=overdue")
    assert count.acts_since_last() == 6

    tab.press("j")
    tab.leave_by("Enter")
    assert tab.ticket == late[3]
    count.press("d")
    tab.focused("#move-declined [data-codes] input")
    count.press("d")
    tab.type("The carrier shows a signature.")
    count.leave_by("Control+Enter")
    assert (tab.ticket, count.acts_since_last()) == (late[4], 3)

    # Next ticket and back are no jobs of the table. With the list at hand, no page is loaded.
    tab.sees(".desk-beside [aria-current]", f"#{late[4]}")
    tab.do(lambda page: page.evaluate("window.sameDocument = true"))
    count.press("j")
    tab.sees(".desk-beside [aria-current]", f"#{late[5]}")
    assert (tab.ticket, count.acts_since_last()) == (late[5], 1)
    assert tab.do(lambda page: page.evaluate("window.sameDocument"))
    tab.press("r")
    tab.focused("#text")
    tab.press("Escape")

    count.press("g")
    count.leave_by("q")
    tab.sees("tr.desk-cursor", f"#{late[5]}")
    assert count.acts_since_last() == 2
    declined = Ticket.objects.filter(status=Status.DECLINED).order_by("pk")
    assert list(declined.values_list("pk", flat=True)) == [*late[:3], late[3]]


ROWS = """() => { const foot = document.querySelector('.lg\\\\:sticky').getBoundingClientRect().top;
  return [...document.querySelectorAll('tr.data-row')].filter(
    row => row.getBoundingClientRect().bottom <= foot).length }"""
TOO_WIDE = """() => { const table = document.getElementById('result_list');
  return table.scrollWidth - table.parentElement.clientWidth }"""


@pytest.mark.slow
def test_eighteen_rows_and_all_columns_fit_a_small_window(
    chromium: Chromium, live_server: LiveServer, desk: Client, company: Company, ada: Agent
) -> None:
    at = timezone.now()
    long_named_agent = build.agent("maximiliana.gutierrez-echeverria.lopez")
    for number in range(40):
        build.ticket(
            company,
            agent=ada if number % 2 else long_named_agent,
            due_at=at - timedelta(days=number),
            filing_due_at=at - timedelta(days=30 + number),
            comments="The box arrived crushed and wet. " * 9,
        )
    with chromium.tab(live_server.url, viewport={"width": 1280, "height": 800}) as tab:
        tab.sign_in(desk)
        for queue in ("mine", "overdue", "open"):
            tab.visit(f"{LIST}?queue={queue}")
            tab.sees("tr.data-row")
            assert tab.do(lambda page: page.evaluate(ROWS)) >= 18
            assert tab.do(lambda page: page.evaluate(TOO_WIDE)) <= 0
        assert tab.complaints == []
