"""Process that publishes at a steady rate, regardless of the deliveries.

`python -m tools.bench.publisher` prints `ready`, reads its plan as JSON on stdin, and writes a JSON
list of [number, due time, commit time] on stdout at the end, or each of them into the plan's file
as it goes. A late event is published at once and the next one keeps its time, so that a slow
service does not reduce the load.
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
    """Write rows of tools/bench/stopwatch.py about once a second, to keep file access rare."""
    with open(path, "wb") as file:
        buffer, next_write = bytearray(), 0.0
        for row in published:
            buffer += stopwatch.PUBLISHED.pack(*row)
            if row[2] >= next_write:
                file.write(buffer)
                file.flush()
                buffer, next_write = bytearray(), row[2] + stopwatch.LOOK_EVERY_SECONDS
        file.write(buffer)


def main() -> None:
    # Open both connections now, as in a process that has run for a while.
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
