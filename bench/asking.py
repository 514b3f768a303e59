"""Everything that is asked of the delivery tables, to be timed at one size and at another."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bench import history, load
from bench.explain import plan
from deliveries import publishing, tasks
from deliveries.models import State
from deliveries.monitoring import backlog, log
from webhooks.models import Webhook

PAGE = 50
UNTIMED = 3
EVENTS_AT_ONCE = 100
STATEMENTS = ("SELECT", "WITH", "INSERT", "UPDATE")

# Called with 0, 1, 2, … to ask about another webhook each time.
Question = Callable[[int], object]


class Asker:
    """Asks about webhooks that have `size` deliveries from `oldest` on between them."""

    def __init__(self, webhooks: Sequence[Webhook], size: int, oldest: datetime) -> None:
        self.webhooks = webhooks
        self.oldest = oldest
        self.middle = oldest + (timezone.now() - oldest) / 2
        parcels_of_one = size // history.EVENTS_OF_ONE // len(webhooks)
        self.parcel_before = parcels_of_one // 2 * len(webhooks)
        deep = {"limit": 1, "cursor": cursor_at(self.middle)}
        self.old = [log.log_page(webhook, **deep)[0][0].pk for webhook in webhooks]
        self.published = 0

    def questions(self) -> dict[str, Question]:
        logs = {
            "log, newest page": {},
            "log, a page deep down": {"cursor": cursor_at(self.middle)},
            "log, delivered": {"state": State.DELIVERED},
            "log, given up": {"state": State.GIVEN_UP},
            "log, given up, deep down": {
                "state": State.GIVEN_UP,
                "cursor": cursor_at(self.middle),
            },
            "log, cancelled": {"state": State.CANCELLED},
            "log, waiting": {"state": State.WAITING},
            "log, since": {"since": self.middle},
            "log, until": {"until": self.middle},
        }
        return {
            f"publish {EVENTS_AT_ONCE} events": self.publish,
            **{name: self.page(**filters) for name, filters in logs.items()},
            "log, one parcel": self.page_of_a_parcel,
            "one delivery with its attempts": self.detail,
            "health": lambda turn: log.health(self.webhook(turn), timezone.now()),
            "sweep": lambda _: tasks.sweep(),
            "count of what waits": lambda _: backlog.count_waiting(),
        }

    def webhook(self, turn: int) -> Webhook:
        return self.webhooks[turn % len(self.webhooks)]

    def publish(self, turn: int) -> None:
        with transaction.atomic():
            self.published += publishing.publish(
                [
                    load.news(self.webhook(turn + each).company_id, each)
                    for each in range(EVENTS_AT_ONCE)
                ]
            )

    def page(self, **filters: object) -> Question:
        def ask(turn: int) -> None:
            found, _ = log.log_page(self.webhook(turn), limit=PAGE, **filters)
            log.delivery_rows(found)

        return ask

    def page_of_a_parcel(self, turn: int) -> None:
        parcel = self.parcel_before + turn % len(self.webhooks)
        self.page(tracking_number=f"TRACK{parcel}")(turn)

    def detail(self, turn: int) -> None:
        company = self.webhook(turn).company
        log.delivery_detail(log.company_delivery(company, self.old[turn % len(self.old)]))


def cursor_at(time: datetime) -> str:
    return f"{int(time.timestamp() * 1_000_000)}-0"


def timed(question: Question, times: int) -> list[float]:
    """Seconds of each, after UNTIMED that find whatever a first one has to make ready."""
    seconds = []
    for turn in range(-UNTIMED, times):
        started = time.perf_counter()
        question(turn)
        if turn >= 0:
            seconds.append(time.perf_counter() - started)
    return seconds


def plans(question: Question) -> list[str]:
    """How PostgreSQL goes about the statements that the question makes."""
    with CaptureQueriesContext(connection) as captured:
        question(0)
    return [
        f"{query['sql'][:2000]}\n{plan(query['sql'], None)}"
        for query in captured
        if query["sql"].lstrip().startswith(STATEMENTS)
    ]
