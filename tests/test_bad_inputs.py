"""Any input gets a JSON answer, never a 5xx, and a refused one leaves no trace."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from companies import services
from companies.models import Company
from deliveries.http.answers import Reply
from deliveries.http.transport import Request
from deliveries.on_demand import sample_delivery
from tests import builders as build
from tests.corpora import BadInput, bad_inputs
from tests.corpora.checks import (
    CHECKS,
    FOREIGN_CARRIER,
    FOREIGN_NUMBER,
    World,
    nothing_changed,
    state,
)
from tickets.statuses import Status

ROWS = bad_inputs()
# The number of rows that share a world.
AT_ONCE = 20
GROUPS = {ROWS[at].id: ROWS[at : at + AT_ONCE] for at in range(0, len(ROWS), AT_ONCE)}
SECRET = "5e" * 32
A_DAY = timedelta(days=1)


@pytest.fixture
def world(company: Company, birch: Company, monkeypatch: pytest.MonkeyPatch) -> World:
    asleep = build.company("Asleep", active=False)
    foreign = build.shipment(
        birch, 77, tracking_number=FOREIGN_NUMBER, carrier_name=FOREIGN_CARRIER
    )
    build.incidence(foreign, kind="damaged", description="birch's trouble")
    build.ticket(company, type_id=5, shipment_id=41, status=Status.IN_REVIEW)
    ticket = build.ticket(company, type_id=2, status=Status.IN_REVIEW, data='{"kept":1}')
    world = World(company, birch, ticket, marks={})
    world.marks = {
        "TOKEN": services.issue_token(company.pk),
        "TOKEN_PLATFORM": services.issue_platform_token(),
        "TOKEN_OTHER": services.issue_token(birch.pk),
        "TOKEN_EXPIRED": services.issue_token(company.pk, expires_in=-A_DAY),
        "TOKEN_REVOKED": revoked(services.issue_token(company.pk)),
        "TOKEN_INACTIVE_COMPANY": services.issue_token(asleep.pk),
        "WEBHOOK_SECRET": SECRET,
        "T": ticket.pk,
        "T_OTHER": build.ticket(birch, status=Status.IN_REVIEW).pk,
        "T_MISSING": 2**40,
        "T_PENDING": build.ticket(company).pk,
        "T_ACCEPTED": build.ticket(company, status=Status.ACCEPTED).pk,
        "T_DECLINED": build.ticket(company, status=Status.DECLINED, data='{"kept":1}').pk,
        "W": build.webhook(company, secret=SECRET).pk,
        "W_OTHER": build.webhook(birch).pk,
        "W_MISSING": 2**40,
        "COMPANY_OTHER": birch.pk,
        "SHIPMENT_OWN": build.shipment(company, 88).pk,
        "SHIPMENT_OTHER_INT": foreign.pk,
        "SHIPMENT_WITH_OPEN_TICKET_INT": 41,
        "TYPE_SHIPMENT_INT": 5,
        "TYPE_CREDIT_INT": 7,
        "TRACKING_OTHER": FOREIGN_NUMBER,
    }

    def send_one(request: Request, *_: Any, **__: Any) -> Reply:
        world.outgoing.append(request)
        return Reply(None, 200, None, "", b"", 1, None)

    # Nothing leaves the machine, whatever URL a row has.
    monkeypatch.setattr(sample_delivery, "send_one", send_one)
    world.before = state()
    return world


def revoked(token: str) -> str:
    services.revoke_token(token)
    return token


@pytest.mark.parametrize("group", GROUPS)
def test_answers_as_the_corpus_expects(
    world: World, group: str, settings: Settings, subtests: pytest.Subtests
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ()
    settings.WEBHOOK_ALLOW_HTTP = False
    before = world.before

    for row in GROUPS[group]:
        # Undo the effects of each row before the next.
        with subtests.test(row.id), transaction.atomic():
            world.before = {model: dict(rows) for model, rows in before.items()}
            world.outgoing.clear()
            answers_as_expected(world, row)
            transaction.set_rollback(True)


def answers_as_expected(world: World, row: BadInput) -> None:
    started = time.thread_time()

    answer = world.send(row)

    assert time.thread_time() - started < 2
    assert answer.status_code in row.expect, (row.reason, answer.content[:500])
    assert answer["Content-Type"] == "application/json"
    assert "Traceback" not in answer.content.decode()
    if answer.status_code >= 400:
        error = answer.json()
        if row.path.startswith("/ship/"):
            error = error["error"]
            assert error["code"] == answer.status_code
        else:
            assert error["statusCode"] == answer.status_code
        assert error["message"]
        nothing_changed(world, row, answer)
    if row.check is not None:
        CHECKS[row.check](world, row, answer)
