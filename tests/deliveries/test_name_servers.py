"""c-ares with name servers that answer, fail, truncate or stay silent."""

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from deliveries.http import name_servers
from deliveries.http.name_servers import LookupResult, NameServers
from tests.deliveries.name_server import NameServer, name_server
from tests.waiting import wait_until

GOOD = "93.184.216.34"
GOOD_IPV6 = "2606:4700::1"


@pytest.fixture
def server() -> Iterator[NameServer]:
    with name_server() as running:
        yield running


@pytest.fixture
def names(server: NameServer) -> Iterator[NameServers[str]]:
    with closing(NameServers[str]([server.address])) as asking:
        yield asking


def answered(
    names: NameServers[str], enough: Callable[[dict[str, LookupResult]], bool]
) -> dict[str, LookupResult]:
    """Collect answers, in the order of their arrival, until there are enough."""
    answers = dict(names.answers())
    while not enough(answers):
        select.select([names], [], [], 0.1)
        answers |= dict(names.answers())
    return answers


def look_up(names: NameServers[str], *hosts: str) -> dict[str, LookupResult]:
    for host in hosts:
        names.ask(host, host)
    return answered(names, lambda answers: len(answers) == len(hosts))


@pytest.mark.parametrize(
    ("answer", "addresses"),
    [
        (GOOD, {GOOD}),
        (GOOD_IPV6, {GOOD_IPV6}),
        (f"{GOOD},{GOOD_IPV6}", {GOOD, GOOD_IPV6}),
        (f"shop.example.net>{GOOD},{GOOD_IPV6}", {GOOD, GOOD_IPV6}),
        ("10.0.0.1", {"10.0.0.1"}),
    ],
)
def test_gives_the_addresses_of_both_kinds(
    server: NameServer, names: NameServers[str], answer: str, addresses: set[str]
) -> None:
    server.answers["hooks.example.com"] = answer
    result = look_up(names, "hooks.example.com")["hooks.example.com"]
    assert (set(result.addresses), len(result.addresses)) == (addresses, len(addresses))
    assert names.open_questions == 0


@pytest.mark.parametrize(
    ("answer", "exists"), [("NXDOMAIN", False), ("SERVFAIL", True), ("", True), ("EMPTY", True)]
)
def test_tells_a_name_that_does_not_exist_from_one_that_cannot_be_looked_up(
    server: NameServer, names: NameServers[str], answer: str, exists: bool
) -> None:
    server.answers["hooks.example.com"] = answer
    result = look_up(names, "hooks.example.com")["hooks.example.com"]
    assert (result.addresses, result.exists) == ((), exists)
    assert result.error


def test_asks_over_tcp_for_what_is_too_long_for_a_datagram(
    server: NameServer, names: NameServers[str]
) -> None:
    addresses = [f"93.184.{number // 250}.{number % 250}" for number in range(1000)]
    server.answers["hooks.example.com"] = ",".join(addresses)
    answer = look_up(names, "hooks.example.com")["hooks.example.com"]
    assert set(answer.addresses) == set(addresses)
    assert server.over_tcp == ["hooks.example.com"]


def test_asks_again_where_a_datagram_is_lost(server: NameServer, names: NameServers[str]) -> None:
    server.answers["hooks.example.com"] = "TIMEOUT"
    names.ask("hooks.example.com", "hooks.example.com")
    while len(server.questions) < 2:
        select.select([names], [], [], 0.01)
    assert list(names.answers()) == []
    server.answers["hooks.example.com"] = GOOD
    answer = answered(names, bool)["hooks.example.com"]
    assert answer.addresses == (GOOD,)
    assert len(server.questions) > 2


def test_says_that_name_servers_are_silent(
    server: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_servers, "TRIES", 2)
    with closing(NameServers[str]([server.address])) as names:
        answer = look_up(names, "dead.example.com")["dead.example.com"]
    assert (answer.addresses, answer.exists) == ((), True)


def test_answers_the_living_while_hundreds_are_silent(
    server: NameServer, names: NameServers[str]
) -> None:
    living = {f"hooks{number}.example.com": GOOD for number in range(50)}
    server.answers.update(living)
    for number in range(300):
        names.ask(f"dead{number}.example.com", f"dead{number}.example.com")
    for host in living:
        names.ask(host, host)
    answers = answered(names, lambda answers: living.keys() <= answers.keys())
    assert living.keys() == set(list(answers)[: len(living)])


def test_loses_no_answer_where_many_are_asked_at_once(
    server: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine an answer may come after the first try's time, and must not be lost.
    monkeypatch.setattr(name_servers, "FIRST_TRY_SECONDS", 5.0)
    # A kernel's buffer without a larger limit.
    monkeypatch.setattr(name_servers, "ROOM_BYTES", 106_496)
    server.answers = {f"hooks{number}.example.com": GOOD for number in range(2000)}
    with closing(NameServers[str]([server.address])) as names:
        for number, host in enumerate(server.answers, start=1):
            names.ask(host, host)
            # Wait for the server, which may have had no processor for a while.
            while number % 16 == 0 and len(server.questions) < 2 * number:
                time.sleep(0.001)
        answers = answered(names, lambda answers: len(answers) == len(server.answers))
    assert {each.addresses for each in answers.values()} == {(GOOD,)}
    assert len(server.questions) < 2 * 2000 * 1.25, "few questions were asked again"


def test_needs_few_descriptors(server: NameServer, names: NameServers[str]) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(500):
        names.ask(f"dead{number}.example.com", "")
        list(names.answers())
    assert len(list(Path("/proc/self/fd").iterdir())) - before < 20


def test_knows_the_hosts_file(server: NameServer, names: NameServers[str]) -> None:
    lines = [line.split("#")[0].split() for line in Path("/etc/hosts").read_text().splitlines()]
    hosts = {name: address for address, name, *_ in filter(None, lines) if "local" not in name}
    if not hosts:
        pytest.skip("/etc/hosts names localhost only")
    host, address = hosts.popitem()
    assert address in look_up(names, host)[host].addresses
    assert server.questions == []


@pytest.mark.parametrize(("seconds", "questions"), [(0.0, 1_000_000), (float("inf"), 2)])
def test_reads_the_configuration_again_and_follows_its_search_list(
    server: NameServer, monkeypatch: pytest.MonkeyPatch, seconds: float, questions: int
) -> None:
    """Change LOCALDOMAIN, a part of the configuration like resolv.conf; see resolv.conf(5)."""
    server.answers["hooks.shop.example.net"] = GOOD
    monkeypatch.setattr(name_servers, "CONFIGURATION_SECONDS", seconds)
    monkeypatch.setattr(name_servers, "CONFIGURATION_QUESTIONS", questions)
    with closing(NameServers[str]([server.address])) as names:
        assert look_up(names, "hooks.shop")["hooks.shop"].addresses == ()
        monkeypatch.setenv("LOCALDOMAIN", "example.net")
        answer = LookupResult()
        # c-ares reads the configuration in a thread of its own.
        while not answer.addresses:
            answer = look_up(names, "hooks.shop")["hooks.shop"]
    assert answer.addresses == (GOOD,)


def test_does_not_remember_that_a_name_had_no_address(
    server: NameServer, names: NameServers[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_servers, "CONFIGURATION_SECONDS", float("inf"))
    server.answers["hooks.example.com"] = "EMPTY"
    assert look_up(names, "hooks.example.com")["hooks.example.com"].addresses == ()
    server.answers["hooks.example.com"] = GOOD
    answer = LookupResult()
    # c-ares empties its cache in a thread of its own.
    for _ in range(200):
        select.select([], [], [], 0.01)
        answer = look_up(names, "hooks.example.com")["hooks.example.com"]
        if answer.addresses:
            break
    assert answer.addresses == (GOOD,)


def test_says_when_it_must_be_called(names: NameServers[str]) -> None:
    assert names.next_check == float("inf")
    for host in ("dead.example.com", "dead2.example.com"):
        names.ask(host, host)
        assert names.next_check <= time.monotonic(), "the hosts file may have answered"
        assert list(names.answers()) == []
        assert time.monotonic() < names.next_check < float("inf")


def open_sockets() -> set[str]:
    """Return the process's sockets by inode, as threads open and close other files meanwhile."""
    targets = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            targets.add(os.readlink(f"/proc/self/fd/{number}"))
    return {one for one in targets if one.startswith("socket:")}


def test_closes_with_questions_open(server: NameServer) -> None:
    before = open_sockets()
    names = NameServers[str]([server.address])
    names.ask("dead.example.com", "")
    opened = open_sockets() - before
    assert opened

    names.close()

    wait_until(lambda: not opened & open_sockets(), "sockets that pycares closes in a thread")
