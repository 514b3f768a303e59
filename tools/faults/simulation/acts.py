"""Acts of people in a run: companies that publish and change their webhooks, and operators.

Each is an actor with a connection of its own, calls the same service as the API or a command, and
notes in the ledger when it began and how it ended.
"""

import hashlib
import json
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import Error, transaction

from companies import erasing
from companies.erasing import Overtaken
from companies.models import Company
from deliveries import publishing, redelivery
from deliveries.engine import holding, pausing
from deliveries.models import Delivery
from deliveries.publishing import News
from deliveries.redelivery import AskedTooOften
from deliveries.upkeep import deleted_webhooks, partitions
from deliveries.upkeep.partitions import PartitionsNotMade
from tools.faults.simulation.plan import Thing
from tools.faults.simulation.scheduler import Actor
from tools.faults.simulation.stage import Stage
from tools.faults.simulation.world import HOSTS, TYPES
from webhooks import services
from webhooks.models import Webhook
from webhooks.services import UnknownWebhook

ACTS_WITH_END = ("pause", "company off", "hold", "drain")


class RolledBack(Exception):
    """Deliberate rollback of a transaction that publishes."""


class Acts:
    """Acts by name; each carries out a planned thing as the running actor."""

    def __init__(self, run: Stage) -> None:
        self.run, self.world = run, run.world
        self.number = 0

    def do(self, thing: Thing, actor: Actor) -> str:
        """Carry out an act, and return how it ended; a failed one may have been committed."""
        what = thing.what.replace(" ", "_")
        about: dict[str, Any] = {"act": thing.what}
        work: Callable[[Thing, dict[str, Any], Actor], None] = getattr(self, what)
        began = self.run.scheduler.now
        try:
            work(thing, about, actor)
            about["how"] = "done"
        except RolledBack:
            about["how"] = "rolled back"
        except (Error, PartitionsNotMade):
            about["how"] = "unsure"
        except (UnknownWebhook, AskedTooOften, Overtaken):
            about["how"] = "refused"
        self.run.tell("act", began=began, **about)
        return str(about["how"])

    def publish(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        dice = random.Random(thing.dice)  # noqa: S311 - a simulation
        news, payloads = [], []
        for _ in range(thing.which):
            self.number += 1
            company, kind = dice.choice(self.world.companies), dice.choice(TYPES[:2])
            subject = dice.randint(1, self.run.plan.subjects) * 100 + self.world.companies.index(
                company
            )
            payload = {"n": self.number, "company": company, "type": kind, "subject": subject}
            payloads.append(payload)
            body = json.dumps(payload).encode()
            fact = UUID(bytes=hashlib.md5(body, usedforsecurity=False).digest())
            news.append(News(company, kind, subject, f"T{subject}", body, None, fact))
        about["events"] = payloads
        with transaction.atomic():
            publishing.publish(news)
            if thing.seconds:
                actor.wait(self.run.scheduler.now + thing.seconds)
            if thing.how == "rolls back":
                raise RolledBack

    def pause(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        webhook = self.of(thing, about)
        services.change_webhook(webhook.company, webhook.pk, active=False)

    def pause_ends(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        services.resume(self.of(thing, about).pk)

    def company_off(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        company = self.world.companies[thing.which % len(self.world.companies)]
        about["company"] = company
        Company.objects.filter(pk=company).update(active=False)

    def company_off_ends(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        company = self.world.companies[thing.which % len(self.world.companies)]
        about["company"] = company
        with transaction.atomic():
            Company.objects.filter(pk=company).update(active=True)
            services.resume_company(company)

    def erase(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        about["company"] = self.world.companies[thing.which % len(self.world.companies)]
        erasing.erase_all_of(
            about["company"], sleep=lambda seconds: actor.wait(self.run.scheduler.now + seconds)
        )

    def hold(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        about["host"] = HOSTS[thing.which % len(HOSTS)]
        holding.hold_host(about["host"], by="an operator")

    def hold_ends(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        about["host"] = HOSTS[thing.which % len(HOSTS)]
        holding.release_host(about["host"])

    def drain(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        holding.drain_loops(by="an operator")

    def drain_ends(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        holding.resume_sending()

    def rotate(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        webhook = self.of(thing, about)
        seconds = 2 * (thing.dice % 4)
        about["activates_in"] = seconds
        rotated = services.rotate_secret(
            webhook.company, webhook.pk, activates_in=timedelta(seconds=seconds)
        )
        about["secret"] = rotated.next_secret

    def limit(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        webhook = self.of(thing, about)
        about["most"] = 1 + thing.dice % 3
        services.change_webhook(webhook.company, webhook.pk, max_in_flight=about["most"])

    def delete(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        webhook = self.of(thing, about)
        services.delete_webhook(webhook.company, webhook.pk)

    def redeliver(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        webhook = self.of(thing, about)
        oldest = Delivery.objects.filter(webhook=webhook).order_by("event_id")[:3]
        ids = list(oldest.values_list("pk", flat=True))
        about["deliveries"] = [str(each) for each in ids]
        redelivery.redeliver(ids)

    def recover(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        webhook = self.of(thing, about)
        since = self.run.scheduler.wall() - timedelta(seconds=20)
        redelivery.recover(webhook.pk, since=since)

    def sweep(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        deleted_webhooks.cancel_deliveries()
        pausing.pause_failing()

    def partitions(self, thing: Thing, about: dict[str, Any], actor: Actor) -> None:
        partitions.make_partitions()

    def of(self, thing: Thing, about: dict[str, Any]) -> Webhook:
        about["webhook"] = self.world.webhooks[thing.which % len(self.world.webhooks)]
        return Webhook.objects.select_related("company").get(pk=about["webhook"])
