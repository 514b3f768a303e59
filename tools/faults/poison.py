"""Poisonous deliveries that cannot be sent, cannot be recorded, or kill their sender."""

import argparse
import os
import signal
import time

from django.db import connection

from companies.services import create_company
from deliveries.engine import claiming
from deliveries.models import Delivery, Loop, State
from shipments.event_types.status import TRACKING_SIMPLE
from tools.faults import in_flight, ledger
from tools.faults.feeding import publish_numbered, register_signed
from tools.faults.ledger import Event
from tools.faults.receiver import Answer, Received
from tools.faults.rig import Rig
from tools.faults.scenarios import until
from tools.faults.steady import Steady
from tools.faults.verdict import Verdict, broken
from webhooks import services
from webhooks.models import Webhook

EVENTS = 5
# The event that kills.
DEADLY: Event = (0, 0)
BURST = 200
RECOVERED_WITHIN_SECONDS = 30.0
# Largest value of the column of attempts.
WORN_OUT = 32_766


class Poisoned:
    """Company whose webhooks harm the sender."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.company = create_company("Poison")
        self.kills: list[float] = []
        # Sum over all kills: what was claimed twice may be repeated twice.
        self.repeats_at_most = 0
        self.hooks: dict[str, Webhook] = {
            name: services.register_webhook(
                self.company, type_id=TRACKING_SIMPLE.id, url=f"{rig.receiver.url}/{name}"
            )
            for name in ("deadly", "unreadable", "worn", "old")
        }
        publish_numbered(self.company, range(EVENTS))
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE webhooks_webhook SET secret = 'no ciphertext' WHERE id = %s",
                [self.hooks["unreadable"].pk],
            )
        self.of("worn").update(attempts=WORN_OUT)

    def of(self, name: str):  # noqa: ANN201 - a queryset
        return Delivery.objects.filter(webhook=self.hooks[name].pk)

    def answer(self, received: Received) -> Answer:
        if received.path == "/deadly" and ledger.event_in(received.body) == DEADLY:
            self.kill()
        return Answer(500 if received.path == "/old" else 200)

    def kill(self) -> None:
        """Kill the loop that sends it, but not the worker and its other loop."""
        try:
            deadly = self.of("deadly").get(event__shipment_id=DEADLY[0])
            loop = Loop.objects.get(pk=deadly.claimed_by)
            # Freeze it while its claims are read, so that it cannot send others.
            os.kill(loop.process_id, signal.SIGSTOP)
            self.repeats_at_most += len(in_flight.claimed([loop]))
            self.kills.append(time.time())
            os.kill(loop.process_id, signal.SIGKILL)
        finally:
            connection.close()

    def arrived(self, path: str) -> int:
        """Return the number of events that have arrived at a path."""
        log = list(self.rig.receiver.log)
        return len({ledger.event_in(each.body) for each in log if each.path == path})


def poison(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Publish deliveries that kill, cannot be signed or not be counted: others must arrive."""
    healthy = register_signed(rig.company, rig.receiver)
    poisoned = Poisoned(rig)
    rig.receiver.answer = poisoned.answer
    with Steady(rig.company, args.per_second, burst=BURST) as steady:
        rig.service.start("worker")
        until(lambda: poisoned.arrived("/old") >= EVENTS, 60)
        services.change_webhook(
            poisoned.company, poisoned.hooks["old"].pk, url=f"{rig.receiver.url}/new"
        )
        aside = until(lambda: poisoned.of("deadly").filter(state=State.GIVEN_UP).exists(), 120)
        time.sleep(args.seconds)
    until(lambda: not Delivery.objects.open().filter(webhook=healthy.pk).exists())
    # A kill may delay the others until the first have been claimed a second time.
    until(lambda: poisoned.arrived("/new") >= EVENTS)
    last = poisoned.kills[-1] if poisoned.kills else 0.0
    log = [each for each in rig.receiver.log if each.path == "/3"]
    figures = {
        **ledger.summary(log, steady.events, healthy.secret),
        "kills": len(poisoned.kills),
        "seconds_until_it_was_set_aside": round(aside, 1),
        "seconds_from_the_last_kill_to_the_next_delivery": round(
            min((each.at for each in log if each.at > last + 0.5), default=last + 999) - last, 1
        ),
        "repeats_at_most": poisoned.repeats_at_most,
        "others_of_the_deadly_delivered": poisoned.of("deadly")
        .filter(state=State.DELIVERED)
        .count(),
        "worn_still_waiting": poisoned.of("worn").filter(state=State.WAITING).count(),
        "sent_to_the_old_url": poisoned.arrived("/old"),
        "sent_to_the_new_url": poisoned.arrived("/new"),
        "sent_unsigned": poisoned.arrived("/unreadable"),
    }
    return figures, broken(
        figures,
        at_most={
            "kills": claiming.MOST_CRASHES,
            "repeats": figures["repeats_at_most"],
            "seconds_from_the_last_kill_to_the_next_delivery": RECOVERED_WITHIN_SECONDS,
            "worn_still_waiting": 0,
            "sent_unsigned": 0,
        },
        at_least={"kills": 1, "others_of_the_deadly_delivered": EVENTS - 1},
    )
