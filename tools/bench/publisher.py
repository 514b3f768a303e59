"""A process that publishes at a steady rate, whatever becomes of what it publishes.

`python -m tools.bench.publisher` says `ready`, reads its plan as JSON on stdin, and writes, once it
is through, a JSON list of [number, when it was due, when it was committed] on stdout, or each of
them into the plan's file as it goes. An event that is late is published at once and the next one
keeps its time, so that slowness of ours does not make the load smaller.
"""

import json
import sys
import time
from collections.abc import Iterator

import django

django.setup()

from django.db import connection, transaction  # noqa: E402

from deliveries import doorbell, publishing  # noqa: E402
from tools.bench import load, stopwatch  # noqa: E402
from tools.bench.plan import Plan  # noqa: E402

Published = tuple[int, float, float]


def publish(plan: Plan) -> Iterator[Published]:
    for numbers in plan.commits():
        due = plan.due(numbers[-1])
        time.sleep(max(0.0, due - time.monotonic()))
        with transaction.atomic():
            publishing.publish([load.news(plan.company_id(number), number) for number in numbers])
        committed = time.monotonic()
        for number in numbers:
            yield number, due, committed


def write(path: str, published: Iterator[Published]) -> None:
    """Write rows of tools/bench/stopwatch.py, about once a second, so that files hold up nobody."""
    with open(path, "wb") as file:
        kept, until = bytearray(), 0.0
        for row in published:
            kept += stopwatch.PUBLISHED.pack(*row)
            if row[2] >= until:
                file.write(kept)
                file.flush()
                kept, until = bytearray(), row[2] + stopwatch.LOOK_EVERY_SECONDS
        file.write(kept)


def main() -> None:
    # As a process that has been up for a while: both its connections are there.
    connection.ensure_connection()
    doorbell.ring_engine()
    print("ready", flush=True)
    plan = Plan(**json.loads(sys.stdin.readline()))
    if plan.file:
        write(plan.file, publish(plan))
    else:
        print(json.dumps(list(publish(plan))))


if __name__ == "__main__":
    main()
