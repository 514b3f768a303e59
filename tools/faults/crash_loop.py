"""Crash loop: a receiver whose answer crashes the worker, again and again."""

import time
from threading import Lock
from typing import Any

from django.db import connection

from companies.models import Company
from companies.services import create_company
from deliveries.engine import claiming, setting_aside
from deliveries.models import Delivery, Loop, State
from shipments.event_types.status import TRACKING_SIMPLE
from tools.faults import in_flight, ledger
from tools.faults.feeding import event_numbered, publish_numbered
from tools.faults.receiver import Answer, Received, Receiver
from tools.faults.scenarios import patiently, until
from tools.faults.service import Service
from tools.faults.verdict import Figures, broken
from webhooks import services
from webhooks.models import Webhook

DEADLY = "/deadly"
KILLS_AT_MOST = claiming.MOST_CRASHES + setting_aside.MOST_SET_ASIDE - 1


class DeadlyReceiver:
    """Receiver whose answers to DEADLY kill the worker, which is restarted at once."""

    def __init__(self, service: Service, receiver: Receiver) -> None:
        self.service = service
        self.kills: list[float] = []
        self.repeats_at_most = 0
        self._lock = Lock()
        receiver.answer = self.answer

    def answer(self, received: Received) -> Answer:
        if received.path == DEADLY:
            with self._lock:
                # Ignore requests of a worker that is dead already.
                if received.at > max(self.kills, default=0.0):
                    self._kill()
        return Answer()

    def _kill(self) -> None:
        try:
            self.service.freeze("worker")
            loops = [each.pk for each in in_flight.loops_of(self.service, "worker")]
            claimed = Delivery.objects.open().filter(claimed_by__in=loops)
            self.repeats_at_most += claimed.exclude(webhook__url__endswith=DEADLY).count()
            self.service.kill("worker")
            self.kills.append(time.time())
            self.service.start("worker")
        finally:
            connection.close()


def crash_loop(
    service: Service, company: Company, receiver: Receiver, *, events: int
) -> dict[str, Any]:
    """Publish to two companies with two webhooks each, one of them deadly until it is paused."""
    poisoner = create_company("Poisoner")
    hooks = {
        path: services.register_webhook(
            owner, type_id=TRACKING_SIMPLE.id, url=f"{receiver.url}{path}"
        )
        for path, owner in (
            (DEADLY, poisoner),
            ("/beside", poisoner),
            ("/first", company),
            ("/second", company),
        )
    }
    deadly = hooks.pop(DEADLY)
    kills = DeadlyReceiver(service, receiver)
    for owner in (poisoner, company):
        publish_numbered(owner, range(events))
    began = time.monotonic()
    service.start("worker")
    until(patiently(lambda: not Webhook.objects.get(pk=deadly.pk).active), 120)
    paused_after = time.monotonic() - began
    others = Delivery.objects.exclude(webhook=deadly.pk)
    until(patiently(lambda: not others.open().exists()))
    expected = [event_numbered(number) for number in range(events)]
    log = list(receiver.log)
    ledgers = [
        ledger.summary([each for each in log if each.path == path], expected, hook.secret)
        for path, hook in hooks.items()
    ]
    return {
        **{name: sum(each[name] for each in ledgers) for name in ledgers[0]},
        "kills": len(kills.kills),
        "seconds_until_it_was_paused": round(paused_after, 1),
        "set_aside": Delivery.objects.filter(webhook=deadly.pk, state=State.GIVEN_UP).count(),
        "others_given_up": others.filter(state=State.GIVEN_UP).count(),
        "others_with_crashes": others.filter(crashes__gt=0).count(),
        "repeats_at_most": kills.repeats_at_most,
        "loops": Loop.objects.filter(lost=False).count(),
    }


def judge(figures: Figures) -> list[str]:
    """Return a line for each promise that the figures break."""
    return broken(
        figures,
        at_most={
            "kills": KILLS_AT_MOST,
            "set_aside": setting_aside.MOST_SET_ASIDE,
            "others_given_up": 0,
            "others_with_crashes": 0,
            "repeats": figures["repeats_at_most"],
        },
        at_least={"kills": claiming.MOST_CRASHES, "set_aside": setting_aside.MOST_SET_ASIDE},
    )
