"""Baseline of libcurl alone: the same POSTs, without queue, database or signature.

Runs as a separate process, so that nothing else is counted: `python -m tools.bench.bare URL COUNT`
"""

import json
import resource
import subprocess
import sys
import time
from uuid import uuid4

import pycurl

from tools.bench.bodies import body
from tools.dev.bootstrap import ROOT

CONCURRENCY = 64
HEADERS = ["Content-Type: application/json", "User-Agent: bare", "Expect:"]


def measure(url: str, count: int) -> dict[str, float]:
    """Measure requests a second, and CPU seconds per thousand."""
    command = [sys.executable, "-m", "tools.bench.bare", url, str(count)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(process.stdout)


def main(url: str, count: int) -> None:
    send(url, CONCURRENCY)
    before, started = used(), time.monotonic()
    send(url, count)
    seconds = time.monotonic() - started
    figures = {
        "requests_per_s": round(count / seconds, 1),
        "cpu_s_per_1000": round(1000 * (used() - before) / count, 3),
    }
    print(json.dumps(figures))


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def send(url: str, count: int) -> None:
    multi = pycurl.CurlMulti()
    idle = [handle(url) for _ in range(CONCURRENCY)]
    remaining = count
    while remaining or len(idle) < CONCURRENCY:
        while remaining and idle:
            easy = idle.pop()
            easy.setopt(pycurl.HTTPHEADER, [*HEADERS, f"X-Webhook-Id: {uuid4()}"])
            multi.add_handle(easy)
            remaining -= 1
        multi.perform()
        ended = finished(multi)
        if not ended:
            multi.select(0.1)
        idle += ended


def finished(multi: pycurl.CurlMulti) -> list[pycurl.Curl]:
    """Return the handles of finished requests. Raises ConnectionError if one failed."""
    ended: list[pycurl.Curl] = []
    more = 1
    while more:
        more, whole, broken = multi.info_read()
        if broken:
            raise ConnectionError(broken[0][2])
        for easy in whole:
            multi.remove_handle(easy)
        ended += whole
    return ended


def handle(url: str) -> pycurl.Curl:
    easy = pycurl.Curl()
    easy.setopt(pycurl.URL, url)
    easy.setopt(pycurl.POSTFIELDS, body(1))
    easy.setopt(pycurl.WRITEFUNCTION, len)
    easy.setopt(pycurl.NOSIGNAL, 1)
    return easy


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
