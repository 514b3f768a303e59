"""Bad neighbours: webhooks whose receivers hold up the sender, with deliveries waiting."""

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
    """Number of webhooks, companies that share them, and total of waiting deliveries.

    `hosts` is the second byte of their addresses, 127.HOSTS.x.y: each webhook has its own.
    """

    about: str
    url: Callable[["BadReceivers", str, int], str]
    hosts: int
    webhooks: int
    waiting: int
    companies: int
    # Each receiver answers one request before it falls silent.
    falls: bool = False

    @property
    def words(self) -> str:
        one = " of one company" if self.companies == 1 else ""
        return f"{self.webhooks:,} webhooks{one} {self.about}, {self.waiting:,} waiting"

    def scaled(self, by: float) -> "Kind":
        """Scale all counts down, to at least one each."""

        def less(count: int) -> int:
            return max(1, round(count * by))

        return replace(
            self,
            webhooks=less(self.webhooks),
            waiting=less(self.waiting),
            companies=min(self.companies, less(self.webhooks)),
        )


class BadReceivers:
    """Receivers of the neighbours: `with BadReceivers(rig) as receivers:`."""

    def __init__(self, rig: Rig) -> None:
        self.receiver = Receiver(rig.folder, listen=EVERYWHERE)
        # A bound port without a listener: connections to it are refused.
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
        """Return a URL; by turns, connections are refused, reset, or redirected."""
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
    """Webhooks of one kind."""

    def __init__(self, receivers: BadReceivers, kind: Kind) -> None:
        say(f"making {kind.webhooks} webhooks")
        self.receivers = receivers
        self.kind = kind
        urls = [kind.url(receivers, host(kind, each), each) for each in range(kind.webhooks)]
        self.webhooks: list[Webhook] = load.webhooks(urls, kind.companies)
        self.company_ids = list(dict.fromkeys(each.company_id for each in self.webhooks))
        self.ids = [webhook.pk for webhook in self.webhooks]
        self.published = 0
        if kind.falls:
            self.greet()

    def greet(self) -> None:
        """Let each receiver answer once, then fall silent."""
        with transaction.atomic():
            self.published += load.publish(self.company_ids, len(self.company_ids))
        draining.ring()
        until(
            lambda: not draining.waiting(self.ids), "the neighbours' first deliveries were not made"
        )
        self.receivers.receiver.fall()

    def publish(self) -> None:
        """Publish the waiting deliveries in the caller's transaction.

        An event of a company is a delivery for each of its webhooks.
        """
        of_one = len(self.webhooks) // len(self.company_ids)
        self.published += load.publish(self.company_ids, max(1, self.kind.waiting // of_one))

    def top_up(self) -> None:
        """Publish until as many deliveries wait as at first."""
        waiting = Delivery.objects.open().filter(webhook_id__in=self.ids).count()
        of_one = len(self.webhooks) // len(self.company_ids)
        missing = max(0, self.kind.waiting - waiting)
        self.published += load.publish(self.company_ids, missing // of_one)

    def troubles(self) -> list[str]:
        """Report lost deliveries of these webhooks; none may be."""
        there = Delivery.objects.filter(webhook_id__in=self.ids).count()
        if there == self.published:
            return []
        return [f"{self.kind.words}: {self.published} deliveries were published, {there} are there"]


def host(kind: Kind, number: int) -> str:
    return f"127.{kind.hosts}.{1 + number // 250}.{1 + number % 250}"
