"""Rows as the last unsquashed version makes them. It runs in that version's tree, not in today's.

So it may use whatever is there, by the names of then, and nothing that came later. Arguments: the
file to write what the API answered to, and the address of a receiver.
"""

import json
import sys
from datetime import date, time, timedelta
from io import StringIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import monotonic
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from rest_framework.test import APIClient

from deliveries import tasks
from deliveries.engine import loop
from deliveries.models import Delivery
from desk.models import Macro, Storm, StormReply, Visit
from desk.support import evidence
from tickets import working
from tickets.assignment import reassigning, taking
from tickets.models import Absence, Agent, Calendar, FilingRule, Holiday, Shift, Ticket


def say(command: str, *arguments: Any, **options: Any) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, **options)
    return out.getvalue()


def feed(company_id: int) -> list[dict[str, Any]]:
    """Two shipments on their way; one has a surcharge and an incidence."""
    shipments = [
        {
            "kind": "shipment",
            "shipment_id": number,
            "company_id": company_id,
            "tracking_number": f"TEST{number}",
            "carrier_name": "acme",
            "order": {
                "shop_id": 77,
                "order_identifier": "5501",
                "order_number": "1042",
                "order_name": "#1042",
            },
        }
        for number in (4101, 4102)
    ]
    scans = [
        {"kind": "tracking", "shipment_id": number, "status": status, "location": "León"}
        for number in (4101, 4102)
        for status in ("Picked Up", "In Transit")
    ]
    surcharge = {
        "kind": "surcharge",
        "surcharge_id": 9,
        "shipment_id": 4101,
        "surcharge_type": "Overweight",
        "amount": 12.5,
        "currency": "MXN",
        "transaction_type": "surcharge",
    }
    incidence = {"kind": "incidence", "incidence_id": 501, "shipment_id": 4101}
    return [*shipments, *scans, surcharge, incidence]


def ingest(lines: list[dict[str, Any]]) -> None:
    with NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        say("ingest", file.name)


def make_rules() -> None:
    """What leads set: who works when, and how long a carrier takes claims."""
    bo = Agent.objects.get(user__username="bo")
    bo.skills.set([2])
    Shift.objects.create(agent=bo, weekday=0, starts=time(9), ends=time(17))
    now = timezone.now()
    Absence.objects.create(agent=bo, starts_at=now, ends_at=now + timedelta(days=9))
    Holiday.objects.create(calendar=Calendar.objects.get(), day=date(2030, 1, 1), name="New Year")
    FilingRule.objects.create(carrier_name="acme", type_id=4, days=30)
    macro = Macro.objects.create(name="Ask", text="Hello {company}.", move_to=4)
    macro.types.set([4])


def make_storm(tickets: list[int]) -> None:
    now = timezone.now()
    ada = User.objects.get(username="ada")
    storm = Storm.objects.create(carrier_name="acme", hour=now, found=9, usual=1.5, state="open")
    storm.tickets.set(tickets)
    StormReply.objects.create(storm=storm, key=uuid4(), user=ada, text="We know.", upto=9)
    Visit.objects.create(ticket_id=tickets[0], user=ada, seen_at=now, alive_at=now)


def make_tickets(api: APIClient) -> list[int]:
    """One that went to and fro, one accepted and rated, one with documents, one untouched."""
    bodies = [
        {"type_id": 4, "shipment_id": 4101, "comments": "It is lost."},
        {"type_id": 5, "shipment_id": 4102, "comments": "It is crushed."},
        {
            "type_id": 19,
            "documents": [
                {"field_id": "rfc", "type": "input", "value": "XAXX010101000"},
                {"field_id": "since", "type": "date", "value": "2026-01-31"},
            ],
        },
        {"type_id": 2, "comments": "Please switch on acme.", "data": '{"b": 1, "a": [2]}'},
    ]
    lost, crushed, credit, carrier = (
        api.post("/company/tickets", body, headers={"Idempotency-Key": f"key-{number}"}).json()[
            "id"
        ]
        for number, body in enumerate(bodies)
    )
    say("move_ticket", lost, 6, agent="ada")
    say("move_ticket", lost, 4, agent="ada", reason="Please send the invoice.")
    answer = {
        "ticket_status_id": 5,
        "comments": "The invoice is number 7.",
        "data": '{"invoice": 7}',
    }
    api.put(f"/company/tickets/{lost}", answer)
    say("move_ticket", crushed, 6, agent="ada")
    say("move_ticket", crushed, 2, agent="ada")
    api.post(f"/tickets/ratings/{crushed}", {"rating": 5, "comment": "Quick."})
    api.post(f"/company/tickets/{credit}/comments", {"comment": "Is anything missing?"})
    make_history(api, credit, carrier)
    return [lost, crushed, credit, carrier]


def make_history(api: APIClient, credit: int, carrier: int) -> None:
    """Every other line of history that was a sentence."""
    ada, bo = User.objects.get(username="ada"), Agent.objects.get(user__username="bo")
    reassigning.reassign(credit, bo, user=ada, reason="Knows: credits.")
    reassigning.reassign(carrier, None, user=ada)
    taking.claim(carrier, ada)
    working.write(credit, "And this.", user=ada, public=True, requested=["Photo"])
    Agent.objects.filter(pk=bo.pk).update(capacity=1)
    reassigning.reassign(carrier, bo, user=ada)
    evidence.export(Ticket.objects.get(pk=credit), user=ada)
    address = f"/company/tickets/{carrier}"
    api.put(address, {"ticket_status_id": 5, "comments": "Please hurry."})
    api.put(address, {"ticket_status_id": 1, "data": '{"b": 2}'})


def make_webhooks(api: APIClient, receiver: str) -> list[dict[str, Any]]:
    """One whose receiver answers, one whose receiver fails, one with a secret that is to come."""
    bodies = [
        {"type_id": 3, "url": f"{receiver}/well", "auth_token": "tok-1"},
        {"type_id": 5, "url": f"{receiver}/failing"},
        {"type_id": 4, "url": f"{receiver}/paused", "active": 0},
    ]
    made = [api.post("/webhooks", body).json()["data"] for body in bodies]
    api.post(f"/webhooks/{made[2]['id']}/secret", {})
    return made


def deliver() -> None:
    """Run the engine until everything but what is paused was tried."""
    untried = Delivery.objects.open().filter(attempts=0, webhook__active=True)
    deadline = monotonic() + 60
    while untried.exists() and monotonic() < deadline:
        tasks.deliver()


def main(file: Path, receiver: str) -> None:
    call_command("migrate", verbosity=0)
    loop.LINGER_SECONDS = 0.0
    company = json.loads(say("create_company", "Acme"))["company_id"]
    token = say("issue_token", company).strip()
    api = APIClient(SERVER_NAME="127.0.0.1", HTTP_AUTHORIZATION=f"Bearer {token}")
    api.default_format = "json"
    say("create_agent", "ada", lead=True)
    say("create_agent", "bo")
    make_rules()
    webhooks = make_webhooks(api, receiver)
    ingest(feed(company))
    tickets = make_tickets(api)
    make_storm(tickets)
    deliver()
    tasks.sweep()
    paths = [
        "/company/tickets",
        *(f"/company/tickets/{id}?getComments=true" for id in tickets),
        *(f"/company/tickets/comments/{id}" for id in tickets),
        "/tickets/types",
        "/webhook-types",
        "/webhooks",
        *(f"/webhooks/{webhook['id']}/deliveries" for webhook in webhooks),
        *(f"/deliveries/{delivery.pk}" for delivery in Delivery.objects.all()),
    ]
    told = {
        "company": company,
        "token": token,
        "tickets": tickets,
        "statuses": [Ticket.objects.get(pk=id).status for id in tickets],
        "webhooks": webhooks,
        "lines": feed(company),
        "answers": {path: api.get(path).json() for path in paths},
    }
    file.write_text(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
