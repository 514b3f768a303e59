"""The part of the service that listen uses, played by a stand-in with a list of events."""

import itertools
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.clients.stand_in import Request, Response, StandIn

TYPES = [
    {"id": 1, "name": "onShipmentStatusUpdate"},
    {"id": 3, "name": "tracking.simple"},
    {"id": 5, "name": "surcharge"},
]
SIGNED = (3, 5)


class Platform(StandIn):
    """Stand-in with existing `webhooks`. Responses in `instead` go out before the real ones."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = itertools.count(1)
        self.webhooks: dict[int, dict[str, Any]] = {}
        self.stored_answers: dict[str, Response] = {}
        self.events: list[dict[str, Any]] = []
        self.instead: list[Response] = []
        self.answer = self.play

    def happen(self, type_id: int = 3, count: int = 1) -> None:
        """Record events for all webhooks of this type."""
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

    def play(self, request: Request) -> Response:
        path, query = urlsplit(request.path).path, parse_qs(urlsplit(request.path).query)
        if self.instead and path.endswith("/events"):
            return self.instead.pop(0)
        if request.line == "GET /webhook-types":
            return Response(200, TYPES)
        if request.method == "GET" and path == "/webhooks":
            all_too = query.get("without_url") == ["1"]
            listed = [each for each in self.webhooks.values() if all_too or each["url"]]
            return Response(200, {"data": listed, "next_cursor": None})
        if request.line == "POST /webhooks":
            return self.make(request)
        id = int(re.match(r"/webhooks/(\d+)", path)[1])
        if id not in self.webhooks:
            return Response(404, {"message": "Not found."})
        if request.method == "DELETE":
            del self.webhooks[id]
            return Response(200, {"data": True})
        return self.page(id, int(query["limit"][0]), int(query.get("after", ["0"])[0]))

    def make(self, request: Request) -> Response:
        key, type_id = request.headers["Idempotency-Key"], request.body["type_id"]
        if key not in self.stored_answers:
            webhook = {"id": next(self.ids), "type_id": type_id, "url": request.body["url"]}
            self.webhooks[webhook["id"]] = webhook
            secret = {"secret": f"secret-{webhook['id']}"} if type_id in SIGNED else {}
            body = {"meta": "webhook_created", "data": {**webhook, **secret}}
            self.stored_answers[key] = Response(200, body)
        return self.stored_answers[key]

    def page(self, id: int, limit: int, after: int) -> Response:
        news = [
            (number, each["row"])
            for number, each in enumerate(self.events, start=1)
            if number > after and each["type_id"] == self.webhooks[id]["type_id"]
        ][:limit]
        cursor = str(news[-1][0] if news else after)
        return Response(200, {"data": [row for _, row in news], "next_cursor": cursor})
