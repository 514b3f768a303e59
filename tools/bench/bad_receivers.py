"""Bad neighbours: webhooks whose receivers hold up who sends to them, with deliveries waiting."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType

from django.db import transaction

from deliveries.models import Delivery
from tools.bench import draining, load, names
from tools.bench.progress import say, until
from tools.bench.receiver import EVERYWHERE, Receiver
from tools.bench.rig import Rig
from webhooks.models import Webhook

SLOW_SECONDS = 4.5
NAMELESS = "nameless"


@dataclass(frozen=True)
class Kind:
    """So many webhooks, shared out among companies, with so many deliveries waiting in all.

    `hosts` is the second part of their addresses, 127.HOSTS.x.y: each webhook has one of its own.
    """

    about: str
    url: Callable[["BadReceivers", str, int], str]
    hosts: int
    webhooks: int
    waiting: int
    companies: int
    # Each has answered one request before it falls silent.
    falls: bool = False

    @property
    def words(self) -> str:
        one = " of one company" if self.companies == 1 else ""
        return f"{self.webhooks:,} webhooks{one} {self.about}, {self.waiting:,} waiting"

    def scaled(self, by: float) -> "Kind":
        """Fewer of all that is counted, at least one of each."""

        def less(count: int) -> int:
            return max(1, round(count * by))

        return replace(
            self,
            webhooks=less(self.webhooks),
            waiting=less(self.waiting),
            companies=min(self.companies, less(self.webhooks)),
        )


class BadReceivers:
    """`with BadReceivers(rig) as receivers:`; where the neighbours' receivers are."""

    def __init__(self, rig: Rig) -> None:
        self.receiver = Receiver(rig.folder, listen=EVERYWHERE)
        # A port that is ours and that nobody listens on: connections to it are refused.
        self.closed = socket.socket()
        self.closed.bind(("0.0.0.0", 0))  # noqa: S104 - it accepts nothing

    def __enter__(self) -> "BadReceivers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.receiver.__exit__(kind, error)
        self.closed.close()

    def silent(self, host: str, number: int) -> str:
        return self.receiver.url(f"silent/{number}", host)

    def falling(self, host: str, number: int) -> str:
        return self.receiver.url(f"fall/{number}", host)

    def slow(self, host: str, number: int) -> str:
        return self.receiver.url(f"slow/{SLOW_SECONDS}/{number}", host)

    def broken(self, host: str, number: int) -> str:
        """One in three refuses the connection, resets it, or redirects."""
        if number % 3 == 0:
            return f"http://{host}:{self.closed.getsockname()[1]}/{number}"
        return self.receiver.url(f"{('reset', 'redirect')[number % 3 - 1]}/{number}", host)

    def nameless(self, _: str, number: int) -> str:
        return f"http://{names.dead(number)}:{names.PORT}/{number}"


KINDS = {
    "fallen": Kind(
        "on as many hosts fall silent",
        BadReceivers.falling,
        hosts=11,
        webhooks=1000,
        waiting=5000,
        companies=10,
        falls=True,
    ),
    "slow": Kind(
        f"answer after {SLOW_SECONDS} s",
        BadReceivers.slow,
        hosts=12,
        webhooks=100,
        waiting=10_000,
        companies=1,
    ),
    "slow-few": Kind(
        f"answer after {SLOW_SECONDS} s",
        BadReceivers.slow,
        hosts=13,
        webhooks=20,
        waiting=2000,
        companies=1,
    ),
    "silent": Kind(
        "never answer", BadReceivers.silent, hosts=14, webhooks=200, waiting=4000, companies=200
    ),
    "broken": Kind(
        "refuse, reset or redirect",
        BadReceivers.broken,
        hosts=15,
        webhooks=1000,
        waiting=5000,
        companies=10,
    ),
    NAMELESS: Kind(
        "have names that DNS does not answer for",
        BadReceivers.nameless,
        hosts=16,
        webhooks=300,
        waiting=3000,
        companies=300,
    ),
}


class Neighbours:
    """The webhooks of one kind."""

    def __init__(self, receivers: BadReceivers, kind: Kind) -> None:
        say(f"making {kind.webhooks} webhooks")
        self.receivers = receivers
        self.kind = kind
        urls = [kind.url(receivers, host(kind, each), each) for each in range(kind.webhooks)]
        self.webhooks: list[Webhook] = load.webhooks(urls, kind.companies)
        self.company_ids = list(dict.fromkeys(each.company_id for each in self.webhooks))
        self.ids = [webhook.pk for webhook in self.webhooks]
        self.made = 0
        if kind.falls:
            self.greet()

    def greet(self) -> None:
        """Have each answer once; then they fall silent."""
        with transaction.atomic():
            self.made += load.publish(self.company_ids, len(self.company_ids))
        draining.ring()
        until(
            lambda: not draining.waiting(self.ids), "the neighbours' first deliveries were not made"
        )
        self.receivers.receiver.fall()

    def publish(self) -> None:
        """Publish what waits, in the transaction of the caller.

        An event of a company is a delivery for each of its webhooks.
        """
        of_one = len(self.webhooks) // len(self.company_ids)
        self.made += load.publish(self.company_ids, max(1, self.kind.waiting // of_one))

    def top_up(self) -> None:
        """Publish as many as have ended, so that as many wait as at first."""
        waiting = Delivery.objects.open().filter(webhook_id__in=self.ids).count()
        of_one = len(self.webhooks) // len(self.company_ids)
        self.made += load.publish(self.company_ids, max(0, self.kind.waiting - waiting) // of_one)

    def troubles(self) -> list[str]:
        """What the books say of them: none of their deliveries may be lost."""
        there = Delivery.objects.filter(webhook_id__in=self.ids).count()
        if there == self.made:
            return []
        return [f"{self.kind.words}: {self.made} deliveries were published, {there} are there"]


def host(kind: Kind, number: int) -> str:
    return f"127.{kind.hosts}.{1 + number // 250}.{1 + number % 250}"
