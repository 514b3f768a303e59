"""A process that publishes at a steady rate, whatever becomes of what it publishes.

`python -m bench.publisher` says `ready`, reads its plan as JSON on stdin, and writes, once it is
through, a JSON list of [number, when it was due, when it was committed] on stdout. An event that
is late is published at once and the next one keeps its time, so that slowness of ours does not
make the load smaller.
"""

import json
import sys
import time

import django

django.setup()

from django.db import connection, transaction  # noqa: E402

from bench import load  # noqa: E402
from bench.plan import Plan  # noqa: E402
from deliveries import doorbell, publishing  # noqa: E402

Published = tuple[int, float, float]


def publish(plan: Plan) -> list[Published]:
    published = []
    for number in plan.numbers():
        due = plan.due(number)
        time.sleep(max(0.0, due - time.monotonic()))
        with transaction.atomic():
            publishing.publish([load.news(plan.company_id(number), number)])
        published.append((number, due, time.monotonic()))
    return published


def main() -> None:
    # As a process that has been up for a while: both its connections are there.
    connection.ensure_connection()
    doorbell.ring_engine()
    print("ready", flush=True)
    plan = Plan(**json.loads(sys.stdin.readline()))
    print(json.dumps(publish(plan)))


if __name__ == "__main__":
    main()
