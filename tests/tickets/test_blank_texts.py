"""A text without visible characters counts as no text (decision N30)."""

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from core.values.texts import is_blank
from tests import builders as build
from tests.shipments import feeding
from tickets import working
from tickets.models import Agent, Comment
from tickets.statuses import Status

BLANKS = [
    "",
    " \n\t",
    "\u200b\u200b",
    "\u200d\ufeff\u2060",
    "\u202e\u2066",
    "\x07\x1b",
    "\u3164\u2800",
]


@pytest.mark.parametrize("text", BLANKS)
def test_invisible_text_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}a")
    assert not is_blank(f"{text}👍🏽")


@pytest.mark.parametrize("text", BLANKS)
def test_blank_comment_is_ignored(api: APIClient, company: Company, text: str) -> None:
    ticket = build.ticket(company, status=Status.IN_REVIEW)
    pending = build.ticket(company)
    answers = [
        api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": text}),
        api.put(f"/company/tickets/{pending.pk}", {"ticket_status_id": 1, "comments": text}),
    ]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer["X-Ticket-Changed"] for answer in answers] == ["0", "0"]
    ticket.refresh_from_db()
    assert ticket.status == Status.IN_REVIEW
    assert not Comment.objects.exists()


def test_blank_reply_is_refused_and_is_no_reason(company: Company, agent: Agent) -> None:
    ticket = build.ticket(company)

    with pytest.raises(ValueError, match="Write something"):
        working.write(ticket.pk, "\u200b", user=agent.user, public=True)
    with pytest.raises(working.MoveRefused):
        working.move(ticket.pk, Status.DECLINED, user=agent.user, reason="\u200b")
    assert not Comment.objects.exists()


def test_feed_ignores_blank_names(company: Company, feed: feeding.Fed) -> None:
    fed = feed(feeding.shipment(5, company.pk, carrier_name="\u200b"))

    assert fed.reasons == ["line 1: carrier_name: is blank"]
