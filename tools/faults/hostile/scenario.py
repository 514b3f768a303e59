"""Scenario of attacks: another company's latency under each, compared with quiet."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from companies.models import Company
from companies.services import create_company, issue_token
from tools.dev.processes import tether
from tools.faults.feeding import publish_numbered, register_signed
from tools.faults.hostile.bystander import PATHS, Bystander
from tools.faults.hostile.names import COMPANY_ATTACKS, STRANGER_ATTACKS
from tools.faults.probing import answers
from tools.faults.rig import Rig
from tools.faults.scenarios import patiently, until
from tools.faults.service import ROOT, Service
from tools.faults.verdict import Figures, Verdict
from webhooks.models import Webhook

TIMES_AS_LONG = 3.0
LONGEST_MS = 1000.0
# Figures judged by their ratio too; the desk and liveness by LONGEST_MS alone.
RATIO = ("api_p99_ms", "delivery_p99_ms")
TAKES_HOLD_SECONDS = 1.0
# Warm-ups before quiet is measured, so that no process answers its first request then.
WARM_UPS = 5
AT_ONCE = 1000


class Means(NamedTuple):
    """Resources of an attack: parallel blows, and the attacker's events and tickets."""

    parallel: int = 8
    events: int = 0
    tickets: int = 0


MEANS = {
    "test-sends": Means(parallel=100),
    "redelivery-loop": Means(events=1),
    "answers-410": Means(events=200),
    "answers-429": Means(parallel=1, events=100),
    "redirects": Means(parallel=1, events=100),
    "backlog": Means(parallel=1),
    "one-receiver": Means(parallel=1, events=2000),
    "drip-answers": Means(parallel=1, events=100),
    "deep-pages": Means(parallel=50, tickets=100_000),
    "drip-uploads": Means(parallel=50),
    "wrong-tokens": Means(parallel=16),
}


def hostile(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Measure a company's p99 in quiet, and under each attack by another or by a stranger."""
    register_signed(rig.company, rig.receiver)
    rig.make_wal_files()
    for kind in ("web", "worker"):
        rig.service.start(kind)
    until(lambda: answers(rig.service, "/healthz"))
    return play_attacks(rig.service, Bystander(rig.service, rig.company, rig.receiver, "/3"), args)


def play_attacks(service: Service, bystander: Bystander, args: argparse.Namespace) -> Verdict:
    """Play the attacks of `args.only`, or all; return figures and troubles by attack."""
    for _ in range(WARM_UPS):
        measure(bystander, 1.0)
    quiet = measure(bystander, args.seconds)
    chosen = args.only.split(",") if args.only else [*COMPANY_ATTACKS, *STRANGER_ATTACKS]
    by_attack: dict[str, Figures] = {}
    for name in chosen:
        figures = under(name, service, bystander, args)
        by_attack[name] = {**figures, "broken": judged(quiet, figures), "why_not": ""}
        say(name, by_attack[name])
    troubles = [f"{name}: {line}" for name, each in by_attack.items() for line in each["broken"]]
    return {"quiet": quiet, "attacks": by_attack}, troubles


def say(name: str, figures: Figures) -> None:
    verdict = "; ".join(figures["broken"]) or "held"
    print(f"faults: {name}: {verdict}", file=sys.stderr, flush=True)


def measure(bystander: Bystander, seconds: float) -> Figures:
    with bystander.measured() as figures:
        time.sleep(seconds)
    return figures


def judged(quiet: Figures, under_attack: Figures) -> list[str]:
    """Return a line for each broken promise."""
    lines = []
    for name in (*(f"{path}_p99_ms" for path in PATHS), "delivery_p99_ms"):
        at_most = LONGEST_MS
        if name in RATIO and quiet[name] is not None:
            at_most = min(LONGEST_MS, TIMES_AS_LONG * quiet[name])
        if under_attack[name] is None or under_attack[name] > at_most:
            lines.append(f"{name} is {under_attack[name]}, and must be at most {at_most:g}")
    if under_attack["refused"]:
        lines.append(f"another company was refused: {', '.join(under_attack['refused'])}")
    return lines


def under(name: str, service: Service, bystander: Bystander, args: argparse.Namespace) -> Figures:
    attacker = create_company(f"Attacker {name}")
    means = MEANS.get(name, Means())
    with attacking(name, service, attacker, means, args.tickets):
        events = args.backlog if name == "backlog" else means.events
        for first in range(0, events, AT_ONCE):
            publish_numbered(attacker, range(first, min(first + AT_ONCE, events)))
        time.sleep(TAKES_HOLD_SECONDS)
        figures = measure(bystander, args.seconds)
    retire(attacker)
    until(patiently(lambda: answers(service, "/healthz")), 60)
    return figures


@contextmanager
def attacking(
    name: str, service: Service, attacker: Company, means: Means, tickets: int
) -> Iterator[None]:
    """Run the attacker's process for the duration of a block."""
    size = min(means.tickets, tickets)
    if size:
        give_tickets(attacker, size)
    target: dict[str, Any] = {
        "port": int(service.environment["PORT"]),
        "token": issue_token(attacker.pk),
        "parallel": means.parallel,
        "size": size,
    }
    process = subprocess.Popen(
        ["nice", sys.executable, "-m", "tools.faults.hostile.attacking", name],
        cwd=ROOT,
        env=os.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=tether(signal.SIGKILL),
    )
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(json.dumps(target))
        process.stdin.close()
        if process.stdout.readline().strip() != "ready":
            raise TimeoutError(f"the attack {name} did not begin")
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def give_tickets(company: Company, count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO tickets_ticket (company_id, type_id, status, comments, version,"
            " created_at, updated_at, carrier_name, clock_digest)"
            " SELECT %s, 2, 2, '', 1, now() - number * interval '1 second', now(), '', 0"
            " FROM generate_series(1, %s) AS number",
            [company.pk, count],
        )
        cursor.execute("ANALYZE tickets_ticket")


def retire(company: Company) -> None:
    """Remove the attacker's webhooks and deliveries before the next attack."""
    Webhook.objects.filter(company=company).update(active=False, deleted_at=timezone.now())

    def forget() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM deliveries_delivery USING webhooks_webhook AS webhook"
                " WHERE webhook.id = webhook_id AND webhook.company_id = %s"
                " AND archived_on = '9999-12-31'",
                [company.pk],
            )
        return True

    # A delivery that ends at this moment makes the statement fail: try again.
    until(patiently(forget), 30)
