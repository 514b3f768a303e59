"""Response times of the agents' pages with a million tickets, and their queries.

Each page is requested in this process, through Django's test client: the time is the service's
own, without the network. Queries are counted in a separate, untimed call.
"""

import argparse
import shutil
import time
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings

from config import memory
from tools.bench import desk_pages, tickets
from tools.bench.explain import plan
from tools.bench.measure import in_ms
from tools.bench.outcome import Outcome, Table
from tools.bench.progress import say
from tools.bench.rig import Rig
from tools.dev.trouble import UsageError

SPARE_BYTES = 2 * 2**30
TIMES = 20
UNTIMED = 2


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tickets", type=int, default=1_000_000, help="of which are")
    parser.add_argument("--open", type=int, default=30_000, help="open, of")
    parser.add_argument("--agents", type=int, default=200, help="agents and")
    parser.add_argument("--companies", type=int, default=1_009, help="companies")
    parser.add_argument("--times", type=int, default=TIMES, help="each page is asked for")
    parser.add_argument("--explain", action="store_true", help="show PostgreSQL's plans")
    parser.add_argument("--only", default="", help="pages whose name has this in it")


class PageTimes(NamedTuple):
    page: str
    seconds: list[float]
    queries: int
    database_ms: float
    size: int
    plans: list[str]

    def row(self) -> dict[str, Any]:
        return {
            "page": self.page,
            "ms": in_ms(self.seconds),
            "queries": self.queries,
            "database_ms": self.database_ms,
            "kilobytes": round(self.size / 1024, 1),
        }


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    free = shutil.disk_usage(rig.folder).free
    if free < args.tickets * tickets.BYTES_OF_TICKET + SPARE_BYTES:
        raise UsageError(f"{args.tickets} tickets need more room than {rig.folder} has; set TMPDIR")
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
    say(f"making {args.tickets} tickets")
    tickets.fill(args.tickets, args.open, args.agents, args.companies)
    timings, troubles = [], []
    memory.settle()
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        for page in desk_pages.pages(args.tickets):
            if args.only not in page.name:
                continue
            try:
                timings.append(ask(page, args.times, explain=args.explain))
            except UsageError as trouble:
                troubles.append(str(trouble))
    return Outcome(
        table=table(timings),
        figures=figures(args, timings),
        troubles=troubles,
        notes=[each for one in timings for each in one.plans],
    )


def ask(page: desk_pages.Page, times: int, *, explain: bool) -> PageTimes:
    """Request a page and measure it. Raises UsageError if it does not open."""
    client = Client()
    client.force_login(page.user)
    seconds, size = [], 0
    for turn in range(-UNTIMED, times):
        if page.uncached:
            cache.clear()
        started = time.perf_counter()
        answer = client.get(page.address)
        size = len(answer.getvalue())
        if turn >= 0:
            seconds.append(time.perf_counter() - started)
        # A search with a single result redirects to its ticket.
        if answer.status_code not in (200, 302):
            raise UsageError(f"{page.name}: {page.address} answers {answer.status_code}")
    # A count that is cached for seconds may expire before one call, but not before both.
    queries = min((captured(client, page) for _ in range(2)), key=len)
    plans = []
    for query in queries if explain else ():
        sql = query["sql"]
        if sql.lstrip(" (").startswith(("SELECT", "WITH")) and "_ticket" in sql:
            plans.append(f"{page.name}: {sql[:1500]}\n{plan(sql.replace('%', '%%'), {})}")
    spent = sum(float(query["time"]) for query in queries)
    return PageTimes(page.name, seconds, len(queries), round(1000 * spent, 1), size, plans)


def captured(client: Client, page: desk_pages.Page) -> list[dict[str, str]]:
    """Return the queries of one call."""
    if page.uncached:
        cache.clear()
    with CaptureQueriesContext(connection) as context:
        client.get(page.address).getvalue()
    return context.captured_queries


def table(timings: list[PageTimes]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("page", "p50 ms", "p95 ms", "of it database ms", "queries", "kilobytes")
    ]
    for one in timings:
        row = one.row()
        ms = row["ms"]
        lines.append(
            (one.page, ms["p50"], ms["p95"], one.database_ms, one.queries, row["kilobytes"])
        )
    return lines


def figures(args: argparse.Namespace, timings: list[PageTimes]) -> dict[str, Any]:
    rows = [one.row() for one in timings]
    return {
        "tickets": args.tickets,
        "open": args.open,
        "agents": args.agents,
        "worst_p95_ms": max((row["ms"]["p95"] for row in rows), default=0),
        "pages": rows,
    }
