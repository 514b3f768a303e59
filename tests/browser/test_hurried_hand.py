"""The simulated agent of `tools/faults/run hurry` at a small desk, and the judge of its run."""

import json
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Chromium
from tickets.models import Agent, Comment, PendingAnswer
from tickets.statuses import Status
from tools.faults import hurry
from tools.faults.hurried_hand import Desk, Hand


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada", available=False)


TEXT = "Hola ada0001."
SCREEN = {"ticket": 7, "text": TEXT, "chosen": "", "focus": "text", "note": False, "to": ""}


def judge_findings(
    events: list[dict[str, Any]], got: list[str], published: list[str] | None = None
) -> list[str]:
    """Return the judge's findings for texts that a company got and those that were published."""

    def row(text: str) -> dict[str, str]:
        return {"type": "admin", "description": text}

    log = [
        SimpleNamespace(
            headers={"X-Webhook-Id": str(number)},
            body=json.dumps({"data": {"ticket_id": 7, "comment": row(text)}}),
        )
        for number, text in enumerate(got if published is None else published)
    ]
    status = {"id": 7, "ticket_status_id": 1, "reason_code": None}
    world = SimpleNamespace(
        tickets=[7],
        receiver=SimpleNamespace(log=log),
        got=lambda ticket: {**status, "allComments": [row(text) for text in got]},
    )
    return hurry.judge(world, SimpleNamespace(mails=[]), events)[1]


def act(fate: str, **screen: Any) -> list[dict[str, Any]]:
    full_screen = {**SCREEN, **screen}
    whole = {"agent": "ada", "ticket": 7, "mark": "ada0001"}
    return [
        {**whole, "event": "confirmed", "screen": full_screen, "sends": True},
        {**whole, "event": "said", "said": fate, "screen": full_screen},
    ]


BACK = {"agent": "ada", "ticket": 7, "event": "taken back"}
HELD_BACK = {"agent": "ada", "ticket": 7, "event": "held", "text": TEXT}


@pytest.mark.parametrize(
    ("events", "got"),
    [
        (act("waits"), [TEXT]),
        ([*act("waits"), *act("refused")], [TEXT]),
        ([*act("offline"), *act("waits")], [TEXT]),
        ([*act("waits"), BACK], []),
        ([*act("waits"), HELD_BACK], []),
        (act("noted", note=True), []),
        (act("asked"), []),
        (act("waits"), [f"{TEXT}\nPlease send:\n- Factura"]),
        (act("nothing"), []),
        (act("nothing"), [TEXT]),
    ],
)
def test_confirmed_texts_that_arrive_once_are_right(events: list[Any], got: list[str]) -> None:
    assert judge_findings(events, got) == []


@pytest.mark.parametrize(
    ("events", "got"),
    [
        (act("waits"), []),
        (act("waits"), [TEXT, TEXT]),
        (act("nothing"), [TEXT, TEXT]),
        (act("waits"), [TEXT, "Nobody wrote this."]),
        ([*act("waits"), BACK], [TEXT]),
        ([*act("waits"), HELD_BACK], [TEXT]),
        (act("noted", note=True), [TEXT]),
        (act("asked"), [TEXT]),
        (act("waits"), [TEXT[:-3]]),
        ([*act("waits", to="3", code="other")], [TEXT]),
    ],
)
def test_judge_notices_lost_doubled_unmeant_and_undone_texts(
    events: list[Any], got: list[str]
) -> None:
    assert judge_findings(events, got) != []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "slip", "fates", "waiting"),
    [
        ("decline", "none", ["on its way"], ["No ada0001."]),
        ("reply", "undo", ["taken back"], []),
        ("decline by macro", "wrong suffix", [], []),
    ],
)
def test_hand_predicts_from_the_screen_what_arrives(
    chromium: Chromium,
    live_server: LiveServer,
    ada: Agent,
    desk: Client,
    company: Company,
    settings: Settings,
    kind: str,
    slip: str,
    fates: list[str],
    waiting: list[str],
) -> None:
    settings.UNDO_SECONDS = 600
    build.macro("Rechazar: faltan pruebas", text="No.", move_to=Status.DECLINED)
    ticket = build.ticket(company, agent=ada, status=Status.IN_REVIEW)
    events: list[dict[str, Any]] = []
    with chromium.tab(live_server.url) as tab:
        tab.sign_in(desk)
        place = Desk(live_server.url, dict, dict, {}, events.append)
        hand = chromium.do(Hand, "ada", tab.context, place, Random(1))  # noqa: S311
        chromium.do(hand.episode, ticket.pk, kind, slip)
        chromium.do(hand.page.goto, "about:blank")

    assert [one["fate"] for one in hurry.fates_of(events)] == fates
    assert [one.text for one in PendingAnswer.objects.waiting()] == waiting
    assert not Comment.objects.exists()


def test_judge_notices_texts_without_an_event() -> None:
    assert judge_findings(act("waits"), [TEXT], published=[]) != []
    assert judge_findings(act("waits"), [TEXT], published=[TEXT, TEXT]) != []


@pytest.mark.parametrize(
    ("events", "right"),
    [
        (act("waits", to="2", code="carrier_liable"), True),
        # A note together with a decision.
        (act("waits", to="2", code="carrier_liable", note=True), True),
        (act("waits", to="2", code="other", note=True), False),
        ([*act("waits", to="2", code="carrier_liable"), BACK], False),
        (act("waits"), False),
    ],
)
def test_judge_accepts_only_confirmed_decisions(events: list[Any], right: bool) -> None:
    row = {"id": 7, "ticket_status_id": 2, "reason_code": "carrier_liable"}
    assert (hurry.wrong_decision(row, hurry.fates_of(events)) == []) is right
