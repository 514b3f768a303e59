"""Attacks without a token."""

import re
import socket
import time
from collections.abc import Callable

import requests

from tools.faults.hostile.target import OwnAddress, Target

Blow = Callable[[], None]
# Attempts a minute, by all threads together.
A_MINUTE = 10_000
CONNECTIONS = 64
IDLE = 1000


def slow_headers(target: Target) -> Blow:
    return drip_on(target, b"GET /company/tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", b"a")


def drip_bodies(target: Target) -> Blow:
    head = (
        b"POST /company/tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    return drip_on(target, head, b"1\r\n \r\n")


def drip_on(target: Target, head: bytes, piece: bytes) -> Blow:
    """Keep many connections open in one thread, and reopen closed ones."""

    def blow() -> None:
        opened: list[socket.socket] = []
        while True:
            while len(opened) < CONNECTIONS // target.parallel:
                connection = target.connect()
                connection.sendall(head)
                opened.append(connection)
            for connection in tuple(opened):
                try:
                    connection.sendall(piece)
                except OSError:
                    opened.remove(connection)
            time.sleep(0.5)

    return blow


def idle_connections(target: Target) -> Blow:
    def blow() -> None:
        opened = []
        for _ in range(IDLE // target.parallel):
            try:
                opened.append(target.connect())
            except OSError:
                time.sleep(0.01)
        time.sleep(60)

    return blow


def wrong_tokens(target: Target) -> Blow:
    def blow() -> None:
        started = time.monotonic()
        target.ask("GET", "/company/tickets", token=f"test_{next(target.numbers):043}")
        time.sleep(max(0.0, started + target.parallel * 60 / A_MINUTE - time.monotonic()))

    return blow


def wrong_passwords(target: Target) -> Blow:
    field = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')

    def blow() -> None:
        with requests.Session() as session:
            session.mount("http://", OwnAddress())
            page = session.get(f"{target.url}/admin/login/", timeout=60).text
            token_field = field.search(page)
            started = time.monotonic()
            for _ in range(50):
                answer = session.post(
                    f"{target.url}/admin/login/",
                    data={
                        "csrfmiddlewaretoken": token_field[1] if token_field else "",
                        "username": f"user{next(target.numbers)}",
                        "password": "a guess",
                    },
                    timeout=60,
                )
                if answer.status_code == 403:
                    return
                time.sleep(max(0.0, started + target.parallel * 60 / A_MINUTE - time.monotonic()))
                started = time.monotonic()

    return blow


ATTACKS: dict[str, Callable[[Target], Blow | None]] = {
    "slow-headers": slow_headers,
    "drip-bodies": drip_bodies,
    "idle-connections": idle_connections,
    "wrong-tokens": wrong_tokens,
    "wrong-passwords": wrong_passwords,
}
