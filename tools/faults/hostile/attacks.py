"""Attacks by a company with a token. Each one prepares, and returns a blow to repeat."""

import json
import time
from collections.abc import Callable

from tools.faults.hostile.receivers import dripping, receiver, redirecting, silent, statuses
from tools.faults.hostile.target import Target

Blow = Callable[[], None]
DIGITS = 900_000
DEPTH = 200_000
KEYS = 20_000


def test_sends(target: Target) -> Blow:
    url = silent()

    def blow() -> None:
        body = {"tracking_number": "X1", "webhook_url": f"{url}/hook"}
        if target.ask("POST", "/ship/webhooktest/", json=body).status_code == 429:
            time.sleep(1)

    return blow


def slow_bodies(target: Target) -> Blow:
    repeated = "{" + ",".join(f'"k{n}":1' for n in range(KEYS)) + f',"k{KEYS - 1}":1' + "}"
    bodies = [
        repeated,
        '{"data":' + "[" * DEPTH + "]" * DEPTH + "}",
        '{"type_id":' + "9" * DIGITS + "}",
        '{"comments":"' + "\\u0041" * (DIGITS // 6) + '"}',
        json.dumps({"comments": "x", "data": repeated.replace('"', '\\"')}),
    ]

    def blow() -> None:
        body = bodies[next(target.numbers) % len(bodies)]
        target.ask(
            "POST", "/company/tickets", data=body, headers={"Content-Type": "application/json"}
        )

    return blow


def registrations(target: Target) -> Blow:
    url = receiver(statuses(200))

    def blow() -> None:
        number = next(target.numbers)
        target.ask("POST", "/webhooks", json={"type_id": 3, "url": f"{url}/{number}"})

    return blow


def redelivery_loop(target: Target) -> Blow:
    (webhook,) = target.register(receiver(statuses(200)))
    delivery_ids: list[str] = []

    def blow() -> None:
        if not delivery_ids:
            rows = target.ask("GET", f"/webhooks/{webhook}/deliveries").json()["data"]
            delivery_ids.extend(row["id"] for row in rows)
            time.sleep(0.1)
        else:
            target.ask("POST", f"/deliveries/{delivery_ids[0]}/redeliver")

    return blow


def answers_410(target: Target) -> Blow:
    (webhook,) = target.register(receiver(statuses(410)))

    def blow() -> None:
        target.ask("PUT", f"/webhooks/{webhook}", json={"active": 1})
        time.sleep(0.02)

    return blow


def answers_429(target: Target) -> None:
    target.register(receiver(statuses(429, ("Retry-After", "1"))), 20)


def redirects(target: Target) -> None:
    target.register(receiver(redirecting), 20)


def backlog(target: Target) -> None:
    target.register(silent())


def one_receiver(target: Target) -> None:
    target.register(receiver(statuses(200)), 200)


def drip_answers(target: Target) -> None:
    target.register(receiver(dripping), 20)


def deep_pages(target: Target) -> Blow:
    last = max(1, target.size // 100)

    def blow() -> None:
        target.ask("GET", f"/company/tickets?page={last}&limit=100&getComments=true")

    return blow


def drip_uploads(target: Target) -> Blow:
    def blow() -> None:
        with target.connect() as connection:
            connection.sendall(
                b"POST /company/tickets HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                b"Content-Type: application/json\r\nContent-Length: 1000000\r\n"
                b"Authorization: Bearer " + target.token.encode() + b"\r\n\r\n"
            )
            while True:
                connection.sendall(b" ")
                time.sleep(0.5)

    return blow


ATTACKS: dict[str, Callable[[Target], Blow | None]] = {
    "test-sends": test_sends,
    "slow-bodies": slow_bodies,
    "registrations": registrations,
    "redelivery-loop": redelivery_loop,
    "answers-410": answers_410,
    "answers-429": answers_429,
    "redirects": redirects,
    "backlog": backlog,
    "one-receiver": one_receiver,
    "drip-answers": drip_answers,
    "deep-pages": deep_pages,
    "drip-uploads": drip_uploads,
}
