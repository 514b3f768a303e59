import select
from collections.abc import Iterator
from contextlib import closing

import pytest

from deliveries.http import resolver as rules
from deliveries.http.answers import Failure
from deliveries.http.resolver import (
    FRESH_SECONDS,
    LONGEST_PAUSE,
    MAX_ADDRESSES,
    MAX_JUDGED,
    USABLE_SECONDS,
    Answer,
    Resolver,
)
from tests.corpora import UrlRow, ssrf_urls
from tests.deliveries.hostile import LOOPBACK
from tests.deliveries.name_server import NameServer, name_server
from webhooks.addresses import why_forbidden
from webhooks.targets import Policy, check_target

STRICT = Policy()
HOST = "hooks.example.com"
GOOD = "93.184.216.34"
OTHER = "93.184.216.35"
FAR = 1_000_000.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server() -> Iterator[NameServer]:
    with name_server() as running:
        yield running


@pytest.fixture
def resolver(server: NameServer, clock: Clock) -> Iterator[Resolver[str]]:
    with closing(Resolver[str](STRICT, [server.address], clock=clock)) as running:
        yield running


def next_answers(resolver: Resolver[str], number: int = 1) -> list[tuple[str, Answer]]:
    """Wait until N waiters have been answered; return them in that order."""
    ready: list[tuple[str, Answer]] = []
    while len(ready) < number:
        select.select([resolver], [], [], 0.1)
        ready += resolver.answers()
    return ready


def resolved(resolver: Resolver[str], host: str = HOST) -> Answer:
    """Resolve a name, and wait for the answer."""
    answer = resolver.resolve(host, "waiter", FAR)
    return next_answers(resolver)[0][1] if answer is None else answer


def settle(resolver: Resolver[str]) -> None:
    """Wait until the name servers have answered everything."""
    while resolver.next_deadline < float("inf"):
        select.select([resolver], [], [], 0.1)
        assert resolver.answers() == []


def give_up(resolver: Resolver[str], clock: Clock) -> Answer:
    """Query a silent server until the time is over."""
    assert resolver.resolve(HOST, "waiter", clock.now + 5.0) is None
    clock.now += 5.0
    return dict(resolver.answers())["waiter"]


def at_once(resolver: Resolver[str]) -> Answer:
    """Resolve a name that must be cached already."""
    answer = resolver.resolve(HOST, "waiter", FAR)
    assert answer is not None
    return answer


@pytest.mark.parametrize("row", [row for row in ssrf_urls() if row.answers != "-"])
def test_gives_no_forbidden_address_of_the_corpus_away(
    row: UrlRow, server: NameServer, resolver: Resolver[str], clock: Clock
) -> None:
    host = check_target(row.url, STRICT).host
    for server.answers[host] in row.answers.split("|"):
        answer = resolver.resolve(host, "waiter", clock.now + 5.0)
        if server.answers[host] == "TIMEOUT":
            clock.now += 5.0
        last = next_answers(resolver)[0][1] if answer is None else answer
        assert not any(why_forbidden(address) for address in last.addresses)
        clock.now += USABLE_SECONDS
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
        f"inside.example.com>{GOOD},10.0.0.1",
        ",".join([*(f"93.184.216.{last}" for last in range(200)), "10.0.0.1"]),
    ],
)
def test_one_bad_address_spoils_the_name(
    server: NameServer, resolver: Resolver[str], answer: str
) -> None:
    server.answers[HOST] = answer
    reply = resolved(resolver)
    assert (reply.addresses, reply.error) == ((), Failure.FORBIDDEN_ADDRESS)
    assert not any(address in reply.detail for address in answer.split(","))


def test_gives_few_of_many_addresses_and_none_of_thousands(
    server: NameServer, resolver: Resolver[str]
) -> None:
    many = [f"93.184.{number // 250}.{number % 250}" for number in range(MAX_JUDGED + 1)]
    server.answers |= {
        "many.example.com": ",".join(many[1:]),
        "thousands.example.com": ",".join(many),
    }
    assert len(resolved(resolver, "many.example.com").addresses) == MAX_ADDRESSES
    assert resolved(resolver, "thousands.example.com").error == Failure.DNS


@pytest.mark.parametrize("answer", ["NXDOMAIN", "SERVFAIL", ""])
def test_says_when_there_is_no_address(
    server: NameServer, resolver: Resolver[str], answer: str
) -> None:
    server.answers[HOST] = answer
    assert resolved(resolver).error == Failure.DNS


def test_uses_a_good_answer_while_it_asks_anew(
    server: NameServer, resolver: Resolver[str], clock: Clock
) -> None:
    server.answers[HOST] = GOOD
    assert resolved(resolver) == Answer((GOOD,))
    server.answers[HOST] = OTHER
    clock.now += FRESH_SECONDS - 1
    assert at_once(resolver) == Answer((GOOD,))
    assert resolver.next_deadline == float("inf"), "nothing is asked"
    clock.now += 1
    assert at_once(resolver) == Answer((GOOD,))
    settle(resolver)
    assert at_once(resolver) == Answer((OTHER,))


def test_uses_no_good_answer_that_is_old(
    server: NameServer, resolver: Resolver[str], clock: Clock
) -> None:
    server.answers[HOST] = GOOD
    assert resolved(resolver) == Answer((GOOD,))
    server.answers[HOST] = OTHER
    clock.now += USABLE_SECONDS
    assert resolved(resolver) == Answer((OTHER,))


@pytest.mark.parametrize("answer", ["NXDOMAIN", "10.0.0.1", f"{GOOD},::1"])
def test_uses_a_good_answer_no_more_when_there_is_another(
    server: NameServer, resolver: Resolver[str], clock: Clock, answer: str
) -> None:
    server.answers[HOST] = GOOD
    assert resolved(resolver) == Answer((GOOD,))
    server.answers[HOST] = answer
    clock.now += FRESH_SECONDS
    resolver.resolve(HOST, "waiter", FAR)
    settle(resolver)
    assert at_once(resolver).error in (Failure.DNS, Failure.FORBIDDEN_ADDRESS)


@pytest.mark.parametrize("answer", ["SERVFAIL", "TIMEOUT", ""])
def test_uses_a_good_answer_for_minutes_while_name_servers_fail(
    server: NameServer, resolver: Resolver[str], clock: Clock, answer: str
) -> None:
    server.answers[HOST] = GOOD
    assert resolved(resolver) == Answer((GOOD,))
    server.answers[HOST] = answer
    while clock.now + FRESH_SECONDS < USABLE_SECONDS:
        clock.now += FRESH_SECONDS
        count = len(server.questions)
        assert resolver.resolve(HOST, "waiter", clock.now + 5.0) == Answer((GOOD,))
        if answer != "TIMEOUT":
            settle(resolver)
            assert len(server.questions) > count, "the pauses stay short meanwhile"
        clock.now += 5.0
        assert resolver.answers() == []
    clock.now = USABLE_SECONDS + FRESH_SECONDS
    last = resolver.resolve(HOST, "waiter", clock.now + 5.0)
    clock.now += 5.0
    assert (last or next_answers(resolver)[0][1]).error == Failure.DNS
    server.release(HOST, OTHER)
    clock.now += LONGEST_PAUSE
    assert resolved(resolver) == Answer((OTHER,))


@pytest.mark.parametrize("answer", ["NXDOMAIN", "SERVFAIL", "", "10.0.0.1"])
def test_asks_less_and_less_often_for_a_name_that_fails(
    server: NameServer, resolver: Resolver[str], clock: Clock, answer: str
) -> None:
    server.answers[HOST] = answer
    for pause in (5, 10, 20, 40, 80, 160, 300, 300):
        assert resolved(resolver).error is not None
        count = len(server.questions)
        clock.now += pause - 1
        assert at_once(resolver).error is not None
        assert len(server.questions) == count
        clock.now += 1
    server.answers[HOST] = GOOD
    assert resolved(resolver) == Answer((GOOD,))
    server.answers[HOST] = answer
    clock.now += USABLE_SECONDS
    assert resolved(resolver).error is not None
    clock.now += 5
    assert resolver.resolve(HOST, "waiter", FAR) is None, "the pauses begin anew"


def test_one_query_serves_all_waiters(server: NameServer, resolver: Resolver[str]) -> None:
    server.answers[HOST] = "TIMEOUT"
    for waiter in "abc":
        assert resolver.resolve(HOST, waiter, FAR) is None
    assert resolver.answers() == []
    server.release(HOST, GOOD)
    assert next_answers(resolver, 3) == [(waiter, Answer((GOOD,))) for waiter in "abc"]
    assert len(server.questions) < 2 * 3, "not for each of them"


def test_says_when_it_must_be_called(server: NameServer, resolver: Resolver[str]) -> None:
    assert resolver.next_deadline == float("inf")
    server.answers[HOST] = "TIMEOUT"
    assert resolver.resolve(HOST, "waiter", 0.1) is None
    assert resolver.answers() == []
    assert resolver.next_deadline == 0.1


def test_waiter_times_out_and_late_answer_is_cached(
    server: NameServer, resolver: Resolver[str], clock: Clock
) -> None:
    server.answers[HOST] = "TIMEOUT"
    assert give_up(resolver, clock).error == Failure.DNS
    assert resolver.next_deadline < float("inf"), "the question is open still"
    server.release(HOST, GOOD)
    settle(resolver)
    assert at_once(resolver) == Answer((GOOD,))


def test_counts_a_failure_once_though_two_questions_were_open(
    server: NameServer, resolver: Resolver[str], clock: Clock
) -> None:
    server.answers[HOST] = "TIMEOUT"
    give_up(resolver, clock)
    clock.now += 5.0
    assert resolver.resolve(HOST, "waiter", FAR) is None
    server.release(HOST, "NXDOMAIN")
    assert [waiter for waiter, _ in next_answers(resolver)] == ["waiter"]
    settle(resolver)
    clock.now += 9.0
    assert at_once(resolver).error == Failure.DNS
    clock.now += 1.0
    assert resolver.resolve(HOST, "waiter", FAR) is None


def test_the_living_do_not_wait_for_the_dead(server: NameServer, resolver: Resolver[str]) -> None:
    living = [f"hooks{number}.example.com" for number in range(50)]
    server.answers |= dict.fromkeys(living, GOOD)
    for number in range(300):
        assert resolver.resolve(f"dead{number}.example.com", "dead", FAR) is None
    for host in living:
        assert resolver.resolve(host, host, FAR) is None
    ready = next_answers(resolver, len(living))
    assert sorted(ready[: len(living)]) == sorted((host, Answer((GOOD,))) for host in living)


def test_asks_no_more_questions_than_it_may_at_a_time(
    server: NameServer, resolver: Resolver[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_QUESTIONS", 2)
    hosts = ["a.example.com", "b.example.com", "c.example.com"]
    server.answers |= dict.fromkeys(hosts[:2], "TIMEOUT") | {hosts[2]: GOOD}
    for host in hosts:
        assert resolver.resolve(host, host, FAR) is None
    while len(set(server.questions)) < 2:
        assert resolver.answers() == []
    assert hosts[2] not in server.questions
    server.release(hosts[0], GOOD)
    assert [host for host, _ in next_answers(resolver, 2)] == [hosts[0], hosts[2]]


def test_does_not_ask_for_what_nobody_waits_for_any_more(
    server: NameServer, resolver: Resolver[str], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_QUESTIONS", 1)
    hosts = ["a.example.com", "b.example.com", "c.example.com"]
    server.answers |= {hosts[0]: "TIMEOUT", hosts[1]: GOOD, hosts[2]: GOOD}
    for host in hosts[:2]:
        assert resolver.resolve(host, host, 5.0) is None
    clock.now = 5.0
    assert [host for host, _ in next_answers(resolver, 2)] == hosts[:2]
    assert resolver.resolve(hosts[2], hosts[2], FAR) is None
    while not server.questions:
        assert resolver.answers() == []
    server.release(hosts[0], GOOD)
    assert next_answers(resolver) == [(hosts[2], Answer((GOOD,)))]
    assert hosts[1] not in server.questions


def test_keeps_the_names_used_last(
    server: NameServer, resolver: Resolver[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_NAMES", 2)
    server.answers |= dict.fromkeys(["a.example.com", "b.example.com", "c.example.com"], GOOD)
    resolved(resolver, "a.example.com")
    resolved(resolver, "b.example.com")
    resolved(resolver, "a.example.com")
    resolved(resolver, "c.example.com")
    assert resolver.resolve("a.example.com", "waiter", FAR) == Answer((GOOD,))
    assert resolver.resolve("b.example.com", "waiter", FAR) is None


def test_never_looks_localhost_up(server: NameServer, resolver: Resolver[str]) -> None:
    refused = resolver.resolve("localhost", "waiter", FAR)
    assert refused is not None
    assert refused.error == Failure.FORBIDDEN_ADDRESS
    with closing(Resolver[str](LOOPBACK, [server.address])) as allowing:
        assert allowing.resolve("localhost", "waiter", FAR) == Answer(("127.0.0.1", "::1"))
        assert allowing.resolve("a.localhost", "waiter", FAR) == Answer(("127.0.0.1", "::1"))
    assert server.questions == []
