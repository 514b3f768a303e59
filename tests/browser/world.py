"""A desk in the middle of its day: companies, agents, tickets in every state, a storm, webhooks."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from itertools import cycle
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from companies.models import Company
from deliveries.engine import recording
from desk.storms import services
from desk.ticket import visits
from tests import builders as build
from tests.deliveries.test_recording import failed, result
from tests.sending import claim
from tickets import opening, updating, working
from tickets.changes.actors import Actor
from tickets.models import Agent, Calendar, FilingRule, SLATarget, Ticket
from tickets.sla import policy
from tickets.statuses import By, Status

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
THEM = Actor(By.COMPANY, "live_8Zk2")
PLANS = {
    "Café Altura": "gold",
    "Librería Andén": "gold",
    "Norte Repuestos": "",
    "Casa Lumbre": "",
    "Textiles Ixtle": "gold",
    "Óptica Faro": "",
}
CARRIERS = ("redpack", "estafeta", "dhl", "fedex")
# Ticket types and what companies write about them.
COMPLAINTS = (
    (4, "The parcel has not moved for a week. The customer asks every day."),
    (5, "The box arrived crushed and wet; two of six cups are broken."),
    (3, "You charged 7.9 kg. Our scale says 5.2 kg, see the photo."),
    (8, "Promised for Tuesday, still at the sorting centre."),
    (6, "It went to number 18 instead of 81."),
    (25, "They say nobody was at home. The shop was open all day."),
    (13, "The seal was cut and the phone is gone."),
)
MACROS = (
    (
        "Ask for proof of value",
        "Hello {company},\n\nto claim {tracking} with the carrier we need two papers from you. "
        "Please send them as an answer to this ticket.\n\n{agent}",
        Status.INCOMPLETE,
        "Invoice with the value of the goods\nPhoto of the damage",
    ),
    (
        "Weight corrected",
        "Hello {company},\n\nthe carrier has accepted the photo of your scale. The surcharge on "
        "{tracking} is refunded.\n\n{agent}",
        Status.ACCEPTED,
        "",
    ),
    (
        "Search begun",
        "Hello {company},\n\nthe carrier searches for {tracking} and answers within two working "
        "days.\n\n{agent}",
        Status.IN_REVIEW,
        "",
    ),
)
READ_ONLY = b'{"error": "database is read-only"}'


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Let everything in this block happen at `moment`."""
    with patch("django.utils.timezone.now", lambda: moment):
        yield


class World:
    """A desk filled through the services, as of now. Ada (agent) and Eve (lead) can sign in."""

    def __init__(self, *, past: int = 4, present: int = 8) -> None:
        self.now = timezone.now()
        self.shipments = iter(range(4101, 9999))
        self.add_rules()
        self.agents = [build.agent(name, capacity=30) for name in ("ada", "ben", "carla", "dev")]
        self.ada, self.ben, *_ = self.agents
        self.eve = build.agent("eve", group="lead", available=False)
        self.companies = [
            build.company(name, plan=plan, contact_email="") for name, plan in PLANS.items()
        ]
        for name, text, to, requested in MACROS:
            build.macro(name, text=text, move_to=to, requested=requested)
        self.complaints = zip(cycle(COMPLAINTS), cycle(CARRIERS), cycle(self.companies))
        self.add_webhooks()
        self.decide_tickets(past)
        self.attempt_deliveries()
        self.open_tickets(present)
        self.attempt_deliveries()
        self.claim = self.lost_parcel()
        self.attempt_deliveries(failing=True)
        self.start_storm()
        self.add_unassigned_tickets()

    def add_rules(self) -> None:
        always = Calendar.objects.create(name="Every hour of the week")
        for day in range(7):
            always.hours.create(weekday=day, starts=time(0), ends=time(0))
        SLATarget.objects.update(calendar=always)
        SLATarget.objects.create(
            plan="gold", calendar=always, first_response_minutes=120, resolution_minutes=24 * 60
        )
        for type_id, days in ((4, 30), (5, 7), (13, 15), (8, 30)):
            FilingRule.objects.create(type_id=type_id, days=days)
        policy.clear_cached_rules()

    def open_parcel_ticket(self, ago: timedelta, **overrides: Any) -> Ticket:
        """Open a ticket about a parcel that was picked up four days earlier."""
        (type_id, words), carrier, company = next(self.complaints)
        type_id, carrier = overrides.get("type_id", type_id), overrides.get("carrier", carrier)
        company, when = overrides.get("company", company), self.now - ago
        shipment = next(self.shipments)
        self.parcel(company, shipment, carrier)
        for status, where, days in (("Picked Up", "Monterrey, MX", 4), ("In Transit", "", 3)):
            self.scan(shipment, status, where, when - days * DAY)
        with at(when):
            return opening.open_ticket(
                company,
                THEM,
                type_id=type_id,
                shipment_id=shipment,
                comments=overrides.get("words", words),
                data=overrides.get("data"),
                documents=overrides.get("documents", ()),
            )

    def parcel(self, company: Company, shipment: int, carrier: str) -> None:
        fields = {"company_id": company.pk, "carrier_name": carrier}
        number = f"{carrier[:2].upper()}{shipment * 7919:010}MX"
        build.fact("shipment", shipment_id=shipment, tracking_number=number, **fields)

    def scan(
        self, shipment: int, status: str, where: str, when: datetime, details: str = ""
    ) -> None:
        build.fact(
            "tracking",
            shipment_id=shipment,
            status=status,
            status_description=details,
            location=where,
            occurred_at=when.isoformat(),
        )

    def move(self, ticket: Ticket, to: Status, ago: timedelta, **options: Any) -> None:
        agent = Ticket.objects.get(pk=ticket.pk).agent or self.ada
        with at(self.now - ago):
            working.move(ticket.pk, to, user=agent.user, **options)

    def decide_tickets(self, many: int) -> None:
        """Decide tickets of the last week, more of them accepted than not."""
        for number in range(many):
            ago = 7 * DAY * (number + 1) / (many + 1)
            ticket = self.open_parcel_ticket(ago + 3 * HOUR)
            self.move(ticket, Status.IN_REVIEW, ago + (1 + number % 3) * HOUR / 2)
            with at(self.now - ago - (1 + number % 4) * HOUR / 3):
                working.write(ticket.pk, "We look into it.", user=self.ben.user, public=True)
            declined = number % 4 == 1
            end = Status.DECLINED if declined else Status.ACCEPTED
            decided_ago = max(ago - (number % 7) * 3 * HOUR, HOUR / 10)
            reason = "The carrier shows a signature." if declined else "The carrier agrees."
            self.move(ticket, end, decided_ago, reason=reason)

    def open_tickets(self, many: int) -> None:
        """Open tickets in every state, some of them late."""
        ends = cycle((None, Status.IN_REVIEW, Status.INCOMPLETE, None))
        for number, to in zip(range(many), ends, strict=False):
            ago = (1 + number * 7 % 45) * HOUR
            ticket = self.open_parcel_ticket(ago)
            if to:
                self.move(ticket, to, ago * 0.6, reason="Please send the invoice." * (to == 4))
            if to == Status.INCOMPLETE and number % 8 == 2:
                with at(self.now - ago * 0.2):
                    self.answer_as_company(ticket, Status.FOLLOW_UP, "The invoice is attached.")
            if to is None and number % 8 == 3:
                with at(self.now - ago * 0.5):
                    self.answer_as_company(ticket, Status.CLAIM_IN_REVIEW, "Please claim it.")

    def answer_as_company(self, ticket: Ticket, to: Status, text: str) -> None:
        updating.update_ticket(ticket.company, ticket.pk, THEM, to=to, text=text)

    def lost_parcel(self) -> Ticket:
        """Return Ada's ticket with everything on it, as the pictures show it."""
        company = self.companies[0]
        ticket = self.open_parcel_ticket(
            30 * HOUR,
            company=company,
            type_id=4,
            carrier="estafeta",
            words="The parcel has not moved for a week. The customer asks every day and wants "
            "the money back by Friday.",
            data=json.dumps(
                {"order": "ALT-20931", "value": 2480.50, "currency": "MXN", "contents": "6 cups"}
            ),
            documents=[
                {
                    "field_id": "label",
                    "key": "Shipping label",
                    "type": "file",
                    "value": "https://files.example.com/altura/label-20931.pdf",
                },
                {"field_id": "sent", "key": "Sent on", "type": "date", "value": "2026-03-02"},
            ],
        )
        Ticket.objects.filter(pk=ticket.pk).update(agent=self.ada)
        where = ticket.shipment_id
        build.fact(
            "surcharge",
            surcharge_id=where,
            shipment_id=where,
            surcharge_type="Remote area",
            amount=48.5,
            currency="MXN",
            transaction_type="surcharge",
            reason="Delivery outside the network",
        )
        build.fact(
            "incidence",
            incidence_id=where,
            shipment_id=where,
            incidence_kind="lost",
            description="Not seen since the truck from San Luis was unloaded",
        )
        user = self.ada.user
        with at(self.now - 28 * HOUR):
            working.write(ticket.pk, "Depot says: not on the shelf.", user=user, public=False)
        with at(self.now - 27 * HOUR):
            working.move(
                ticket.pk,
                Status.INCOMPLETE,
                user=user,
                requested=["Invoice with the value of the goods"],
                reason="Hello Café Altura,\n\nthe carrier searches. Please send us the invoice, "
                "so that we can claim the value if nothing is found.",
            )
            visits.record_visit(ticket.pk, user)
        with at(self.now - 2 * HOUR):
            text = "Here it is: https://files.example.com/altura/invoice-20931.pdf"
            self.answer_as_company(ticket, Status.FOLLOW_UP, text)
        visits.record_visit(ticket.pk, self.ben.user, writing=True)
        return ticket

    def start_storm(self) -> None:
        """Open tickets of one carrier on strike: more in an hour than usual in a day."""
        for number in range(11):
            self.open_parcel_ticket(HOUR * (number + 1) / 13, type_id=8, carrier="redpack")
        services.watch()

    def add_unassigned_tickets(self) -> None:
        """Open tickets that nobody has yet."""
        Agent.objects.update(available=False)
        for number in range(3):
            self.open_parcel_ticket((number + 1) * HOUR / 5)
        Agent.objects.exclude(pk=self.eve.pk).update(available=True)

    def add_webhooks(self) -> None:
        """Create a healthy webhook, one whose receiver fails, and one that support has paused."""
        company = self.companies[0]
        address = "https://hooks.{}.example/parcels".format
        self.well = build.webhook(company, url=address("altura"))
        self.sick = build.webhook(company, url=address("erp.altura"))
        build.webhook(
            self.companies[2],
            url=address("norte"),
            active=False,
            paused_reason="The certificate has expired; Norte renews it on Monday.",
        )

    def attempt_deliveries(self, *, failing: bool = False) -> None:
        """Attempt due deliveries as the engine would; if `failing`, one receiver answers 503."""
        broken = {"status": 503, "error": "", "answer": READ_ONLY, "unreachable": False}
        while claimed := claim(20):
            recording.record_attempts(
                [
                    failed(one, wait=1800, duration_ms=2140, **broken)
                    if failing and one.webhook_id == self.sick.pk
                    else result(one, duration_ms=90 + (one.subject_id or 0) % 90)
                    for one in claimed
                ]
            )
