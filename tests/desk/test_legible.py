"""Stacked marks are clipped and gaps joined where text is shown; the stored text is unchanged."""

import pypdfium2
import pytest
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from core.values.texts import legible
from tests import builders as build
from tests.desk.test_claim_file import take, text_of
from tests.desk.test_queues import LIST
from tickets.changes.letters import indented
from tickets.models import Comment

TOWER = "Z" + "\u0301\u0335" * 150 + "algo"
CLIPPED = "Z" + "\u0301\u0335" * 2 + "algo"
GAP = "first" + "\r\n" * 30_000 + "last"
JOINED = "first\n\n\nlast"
EVIL = f"{TOWER} {GAP}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TOWER, CLIPPED),
        ("a" + "\u0301\u200d" * 99, "a" + "\u0301\u200d" * 4),
        ("x" + "\U0001e8d0" * 99, "x" + "\U0001e8d0" * 4),
        ("x" + "\u20dd" * 99, "x" + "\u20dd" * 4),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("Tiê\u0301ng Việt ภาษาที่ 👩\u200d👧 ❤\ufe0f", "Tiê\u0301ng Việt ภาษาที่ 👩\u200d👧 ❤\ufe0f"),
        (GAP, JOINED),
        ("first" + " \t\u200b\n" * 500 + "  last", "first\n\n\n  last"),
        ("first" + "\u2028" * 500 + "last", JOINED),
        ("first" + "\r" * 500 + "last", JOINED),
        ("first" + "\u00a0\n" * 9 + "last", JOINED),
        ("a\n\n\nb\r\n\r\nc", "a\n\n\nb\r\n\r\nc"),
        ("a      b", "a      b"),
        ("", ""),
    ],
)
def test_marks_are_clipped_and_gaps_joined(text: str, expected: str) -> None:
    assert legible(text) == expected


def test_every_outlet_clips_marks(api: APIClient, company: Company, desk: Client) -> None:
    ticket = build.ticket(company, type_id=5, comments="")
    response = api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": EVIL})
    assert response.status_code == 200, response.json()

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    claim = b"".join(take(desk, ticket, "pdf").streaming_content)

    assert CLIPPED in html
    assert "\u0301\u0335" * 3 not in html
    assert "\n\n\n\n\n\n\n\n" not in html.replace("\r", "").split("first")[1][:100]
    _, pages = text_of(claim)
    assert pages < 5
    assert pypdfium2.PdfDocument(claim)
    # The stored text is unchanged.
    assert Comment.objects.get().text.count("\u0301") == 150


def test_emails_clip_marks() -> None:
    assert indented(EVIL) == f"> {CLIPPED} first\n>\n>\n> last"
