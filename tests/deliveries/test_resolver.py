import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from deliveries.http.answers import Failure
from deliveries.http.resolver import BAD_SECONDS, GOOD_SECONDS, MAX_THREADS, Answer, Resolver
from tests.corpora import UrlRow, ssrf_urls
from tests.deliveries.hostile import LOOPBACK
from webhooks.addresses import why_forbidden
from webhooks.targets import Policy, check_target

STRICT = Policy()
GOOD = "93.184.216.34"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answering(*answers: str) -> Callable[[str], list[str]]:
    """Return a lookup that gives these answers in turn, in the corpus' notation."""
    left = list(answers)

    def lookup(host: str) -> list[str]:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if answer == "NXDOMAIN":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if answer == "TIMEOUT":
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return [each for each in answer.rpartition(">")[2].split(",") if each]

    return lookup


def resolved(resolver: Resolver[str], host: str = "hooks.example.com") -> Answer:
    """Ask and wait for the answer."""
    answer = resolver.resolve(host, "waiter", time.monotonic() + 60)
    while answer is None:
        select.select([resolver], [], [], 10.0)
        answer = dict(resolver.answers()).get("waiter")
    return answer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize("row", [row for row in ssrf_urls() if row.answers != "-"])
def test_gives_no_forbidden_address_of_the_corpus_away(row: UrlRow, clock: Clock) -> None:
    host = check_target(row.url, STRICT).host
    answers = row.answers.split("|")
    with closing(Resolver[str](STRICT, answering(*answers), clock=clock)) as resolver:
        for _ in answers:
            last = resolved(resolver, host)
            assert not any(why_forbidden(address) for address in last.addresses)
            clock.now += GOOD_SECONDS + 1
    if row.good or "redirect" in row.url:
        assert last.error in (None, Failure.DNS)
    else:
        assert last == Answer((), Failure.FORBIDDEN_ADDRESS, last.detail)


@pytest.mark.parametrize(
    "answer",
    [
        "10.0.0.1",
        f"{GOOD},10.0.0.1",
        f"10.0.0.1,{GOOD}",
        f"{GOOD},fd00::1",
        ",".join([GOOD] * 1000 + ["::1"]),
        "fe80::1%eth0",
        "nonsense",
    ],
)
def test_one_bad_address_spoils_the_name(answer: str) -> None:
    with closing(Resolver[str](STRICT, answering(answer))) as resolver:
        reply = resolved(resolver)
    assert (reply.addresses, reply.error) == ((), Failure.FORBIDDEN_ADDRESS)
    assert not any(address in reply.detail for address in answer.split(","))


def test_gives_each_good_address_once() -> None:
    with closing(Resolver[str](STRICT, answering(f"{GOOD},2606:4700::1,{GOOD}"))) as resolver:
        assert resolved(resolver) == Answer((GOOD, "2606:4700::1"))


@pytest.mark.parametrize("answer", ["NXDOMAIN", "TIMEOUT", ""])
def test_says_when_there_is_no_address(answer: str) -> None:
    with closing(Resolver[str](STRICT, answering(answer))) as resolver:
        assert resolved(resolver).error == Failure.DNS


def test_survives_a_lookup_that_breaks() -> None:
    def breaking(host: str) -> list[str]:
        raise RuntimeError("oops")

    with closing(Resolver[str](STRICT, breaking)) as resolver:
        assert resolved(resolver).error == Failure.DNS


def test_keeps_a_good_answer_30_seconds_and_a_bad_one_5(clock: Clock) -> None:
    lookup = answering(GOOD, "NXDOMAIN", GOOD)
    with closing(Resolver[str](STRICT, lookup, clock=clock)) as resolver:
        assert resolved(resolver).addresses == (GOOD,)
        clock.now += GOOD_SECONDS - 1
        assert resolver.resolve("hooks.example.com", "waiter", 0.0) == Answer((GOOD,))
        clock.now += 1
        assert resolved(resolver).error == Failure.DNS
        clock.now += BAD_SECONDS - 1
        assert resolved(resolver).error == Failure.DNS
        clock.now += 1
        assert resolved(resolver).addresses == (GOOD,)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a slow lookup waits for."""
    event = threading.Event()
    yield event
    event.set()


def test_asks_once_for_all_who_wait_and_never_blocks(gate: threading.Event) -> None:
    asked = []

    def slow(host: str) -> list[str]:
        asked.append(host)
        gate.wait(10)
        return [GOOD]

    with closing(Resolver[str](STRICT, slow)) as resolver:
        for waiter in ("a", "b", "c"):
            assert resolver.resolve("hooks.example.com", waiter, time.monotonic() + 60) is None
        assert resolver.answers() == []
        gate.set()
        select.select([resolver], [], [], 10.0)
        assert resolver.answers() == [(waiter, Answer((GOOD,))) for waiter in "abc"]
    assert asked == ["hooks.example.com"]


def test_tells_who_waited_too_long_and_keeps_the_late_answer(
    gate: threading.Event, clock: Clock
) -> None:
    def slow(host: str) -> list[str]:
        gate.wait(10)
        return [GOOD]

    with closing(Resolver[str](STRICT, slow, clock=clock)) as resolver:
        assert resolver.next_deadline == float("inf")
        assert resolver.resolve("hooks.example.com", "waiter", 5.0) is None
        assert resolver.next_deadline == 5.0
        clock.now = 5.0
        assert [(waiter, late.error) for waiter, late in resolver.answers()] == [
            ("waiter", Failure.DNS)
        ]
        gate.set()
        assert resolved(resolver) == Answer((GOOD,))


def test_looks_up_more_names_than_it_has_threads(gate: threading.Event) -> None:
    def slow(host: str) -> list[str]:
        gate.wait(10)
        return [GOOD]

    hosts = [f"h{number}.example.com" for number in range(MAX_THREADS + 20)]
    with closing(Resolver[str](STRICT, slow)) as resolver:
        before = threading.active_count()
        for host in hosts:
            assert resolver.resolve(host, host, time.monotonic() + 60) is None
        assert threading.active_count() - before <= MAX_THREADS
        gate.set()
        ready: dict[str, Answer] = {}
        while len(ready) < len(hosts):
            select.select([resolver], [], [], 10.0)
            ready |= dict(resolver.answers())
        assert ready == dict.fromkeys(hosts, Answer((GOOD,)))


def test_says_so_when_there_is_no_thread_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with closing(Resolver[str](STRICT, answering(GOOD))) as resolver:
        assert resolved(resolver).error == Failure.INTERNAL


def test_never_looks_localhost_up() -> None:
    def breaking(host: str) -> list[str]:
        raise AssertionError("looked up")

    with closing(Resolver[str](LOOPBACK, breaking)) as resolver:
        assert resolver.resolve("localhost", "waiter", 0.0) == Answer(("127.0.0.1", "::1"))
        assert resolver.resolve("a.localhost", "waiter", 0.0) == Answer(("127.0.0.1", "::1"))
    with closing(Resolver[str](STRICT, breaking)) as resolver:
        answer = resolver.resolve("localhost", "waiter", 0.0)
        assert answer is not None
        assert answer.error == Failure.FORBIDDEN_ADDRESS
