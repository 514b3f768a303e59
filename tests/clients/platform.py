"""The part of the service that listen uses, played by a stand-in, with its events in a list."""

import itertools
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.clients.stand_in import Asked, StandIn, Told

TYPES = [
    {"id": 1, "name": "onShipmentStatusUpdate"},
    {"id": 3, "name": "tracking.simple"},
    {"id": 5, "name": "surcharge"},
]
SIGNED = (3, 5)


class Platform(StandIn):
    """`webhooks` are those that exist. `instead` has answers that are given before true ones."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = itertools.count(1)
        self.webhooks: dict[int, dict[str, Any]] = {}
        self.kept: dict[str, Told] = {}
        self.events: list[dict[str, Any]] = []
        self.instead: list[Told] = []
        self.answer = self.play

    def happen(self, type_id: int = 3, count: int = 1) -> None:
        """Something of which webhooks of this type are told."""
        for _ in range(count):
            number = len(self.events)
            name = next(each["name"] for each in TYPES if each["id"] == type_id)
            row = {
                "id": f"delivery-{number}",
                "event_id": f"event-{number}",
                "event": name,
                "sequence": number,
                "created_at": "2026-01-02 00:00:00",
                "headers": {
                    "Content-Type": "application/json",
                    "User-Agent": "parceldesk/1.0.0",
                    "X-Webhook-Id": f"delivery-{number}",
                    "X-Webhook-Signature": f"v1={number:064x}",
                },
                "body": f'{{"type": "{name}",  "data": {{"location": "León", "n": {number}}}}}',
            }
            self.events.append({"type_id": type_id, "row": row})

    def play(self, asked: Asked) -> Told:
        path, query = urlsplit(asked.path).path, parse_qs(urlsplit(asked.path).query)
        if self.instead and path.endswith("/events"):
            return self.instead.pop(0)
        if asked.line == "GET /webhook-types":
            return Told(200, TYPES)
        if asked.method == "GET" and path == "/webhooks":
            all_too = query.get("without_url") == ["1"]
            listed = [each for each in self.webhooks.values() if all_too or each["url"]]
            return Told(200, {"data": listed, "next_cursor": None})
        if asked.line == "POST /webhooks":
            return self.make(asked)
        id = int(re.match(r"/webhooks/(\d+)", path)[1])
        if id not in self.webhooks:
            return Told(404, {"message": "Not found."})
        if asked.method == "DELETE":
            del self.webhooks[id]
            return Told(200, {"data": True})
        return self.page(id, int(query["limit"][0]), int(query.get("after", ["0"])[0]))

    def make(self, asked: Asked) -> Told:
        key, type_id = asked.headers["Idempotency-Key"], asked.body["type_id"]
        if key not in self.kept:
            made = {"id": next(self.ids), "type_id": type_id, "url": asked.body["url"]}
            self.webhooks[made["id"]] = made
            secret = {"secret": f"secret-{made['id']}"} if type_id in SIGNED else {}
            self.kept[key] = Told(200, {"meta": "webhook_created", "data": {**made, **secret}})
        return self.kept[key]

    def page(self, id: int, limit: int, after: int) -> Told:
        news = [
            (number, each["row"])
            for number, each in enumerate(self.events, start=1)
            if number > after and each["type_id"] == self.webhooks[id]["type_id"]
        ][:limit]
        cursor = str(news[-1][0] if news else after)
        return Told(200, {"data": [row for _, row in news], "next_cursor": cursor})
