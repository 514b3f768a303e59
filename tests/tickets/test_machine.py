"""A random company and a random agent against a model written from the interface alone."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests import builders as build
from tests.conftest import signed_in
from tickets import working
from tickets.changes.writes import MoveRefused
from tickets.models import Agent, Ticket
from tickets.statuses import Status

PENDING, ACCEPTED, DECLINED, INCOMPLETE, FOLLOW_UP, IN_REVIEW, CLAIM = 1, 2, 3, 4, 5, 6, 10
TEXTS = st.sampled_from(["", "thanks", "the box was wet"])
DATA = st.sampled_from([None, "{}", '{"a": 1}'])


# Statuses of the interface, which the model covers.
STATUSES = [Status(number) for number in (1, 2, 3, 4, 5, 6, 10)]


@dataclass
class Model:
    """A ticket as the interface and the decisions describe it."""

    type_id: int
    shipment_id: int
    status: int = PENDING
    data: str | None = None
    comments: list[str] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        return self.status in (ACCEPTED, DECLINED)

    def blocks(self, type_id: int, shipment_id: int) -> bool:
        return (self.type_id, self.shipment_id) == (type_id, shipment_id) and self.status in (
            PENDING,
            FOLLOW_UP,
            IN_REVIEW,
            DECLINED,
        )

    def says_nothing(self, text: str, data: str | None) -> bool:
        current_data = self.data or "{}"
        return text == "thanks" and (data is None or data == current_data)


class Desk(RuleBasedStateMachine):
    """State machine of a company and an agent; set `agent` before running it."""

    agent: Agent
    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.api = signed_in(build.company())
        self.models: dict[int, Model] = {}

    @rule(
        target=tickets,
        type_id=st.sampled_from([4, 5]),
        shipment_id=st.integers(min_value=1, max_value=2),
    )
    def open(self, type_id: int, shipment_id: int) -> int:
        body = {"type_id": type_id, "shipment_id": shipment_id}
        answer = self.api.post("/company/tickets", body)
        in_the_way = [id for id, model in self.models.items() if model.blocks(type_id, shipment_id)]
        if in_the_way:
            assert answer.status_code == 409
            assert answer.json()["ticket_id"] in in_the_way
            return answer.json()["ticket_id"]
        assert answer.status_code == 200
        self.models[answer.json()["id"]] = Model(type_id, shipment_id)
        return answer.json()["id"]

    @rule(ticket=tickets, to=st.sampled_from([1, 5, 10]), text=TEXTS, data=DATA)
    def update(self, ticket: int, to: int, text: str, data: str | None) -> None:
        body: dict[str, Any] = {"ticket_status_id": to, "comments": text}
        if data is not None:
            body["data"] = data
        answer = self.api.put(f"/company/tickets/{ticket}", body)
        assert (answer.status_code, answer.json()) == (200, {"data": True})
        model = self.models[ticket]
        if model.closed:
            assert answer["X-Ticket-Changed"] == "0"
            assert answer["X-Ticket-Status"] == str(model.status)
            return
        before = (model.status, model.data, len(model.comments))
        comes_back = model.status in (IN_REVIEW, INCOMPLETE) and not model.says_nothing(text, data)
        if to != FOLLOW_UP or comes_back:
            model.status = to
        if data is not None:
            model.data = data
        if text:
            model.comments.append(text)
        changed = before != (model.status, model.data, len(model.comments))
        assert answer["X-Ticket-Changed"] == str(int(changed))
        assert answer["X-Ticket-Status"] == str(model.status)

    @rule(ticket=tickets, text=TEXTS)
    def comment(self, ticket: int, text: str) -> None:
        answer = self.api.post(f"/company/tickets/{ticket}/comments", {"comment": text})
        model = self.models[ticket]
        if model.closed:
            assert answer.status_code == 422
            return
        assert (answer.status_code, answer.json()) == (200, {"data": True})
        if text:
            model.comments.append(text)
            if model.status == IN_REVIEW and text != "thanks":
                model.status = FOLLOW_UP

    @rule(ticket=tickets, to=st.sampled_from(STATUSES), reason=st.sampled_from(["", "because"]))
    def move(self, ticket: int, to: Status, reason: str) -> None:
        model = self.models[ticket]
        allowed = to in (ACCEPTED, DECLINED, INCOMPLETE, IN_REVIEW)
        allowed = allowed and not model.closed and to != model.status
        allowed = allowed and bool(reason or to in (ACCEPTED, IN_REVIEW))
        try:
            working.move(ticket, to, user=self.agent.user, reason=reason)
        except MoveRefused:
            assert not allowed
            return
        assert allowed
        model.status = int(to)
        if reason and to != IN_REVIEW:
            model.comments.append(reason)

    @invariant()
    def is_where_the_model_says(self) -> None:
        stored = Ticket.objects.filter(pk__in=self.models).values_list("pk", "status", "data")
        assert {(id, model.status, model.data) for id, model in self.models.items()} == set(stored)

    def teardown(self) -> None:
        """Check that the company sees the model's state, and every move without a gap."""
        answer = self.api.get("/company/tickets", {"limit": 100, "getComments": 1}).json()
        assert {row["id"]: summary(row) for row in answer["data"]} == {
            id: (model.status, model.data, model.comments) for id, model in self.models.items()
        }
        closed = sum(model.closed for model in self.models.values())
        assert answer["counts"] == {"active": len(self.models) - closed, "resolved": closed}
        for id, model in self.models.items():
            (row,) = self.api.get(f"/company/tickets/{id}").json()["data"]
            moves = [(line["from"], line["to"]) for line in row["history"]]
            assert moves[0] == (None, PENDING)
            assert all(one[1] == other[0] for one, other in pairwise(moves))
            assert moves[-1][1] == model.status


def summary(row: dict[str, Any]) -> tuple[int, str | None, list[str]]:
    comments = [comment["description"] for comment in row["allComments"]]
    return row["ticket_status_id"], row["data"], comments


@pytest.mark.django_db
def test_agrees_with_the_interface_whatever_happens(agent: Agent) -> None:
    Desk.agent = agent
    run_state_machine_as_test(
        Desk,
        settings=settings(
            max_examples=8,
            stateful_step_count=20,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
