"""Target of an attacker: requests and raw sockets from an address of its own."""

import itertools
import socket
import threading
from dataclasses import dataclass, field
from typing import Any

import requests
from requests.adapters import HTTPAdapter

# Source address that differs from that of other clients.
FROM = "127.0.0.66"


class OwnAddress(HTTPAdapter):
    """Adapter that connects from FROM."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, source_address=(FROM, 0), **options)


@dataclass
class Target:
    """Service under attack, and a company's token. `parallel` is the number of threads."""

    port: int
    token: str
    parallel: int = 8
    size: int = 1000
    numbers: Any = field(default_factory=itertools.count, init=False)
    _local: threading.local = field(default_factory=threading.local, init=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, *, token: str | None = None, **options: Any) -> Any:
        """Send a request in this thread's session."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
            self._local.session.mount("http://", OwnAddress())
        headers = {"Authorization": f"Bearer {token or self.token}", **options.pop("headers", {})}
        return self._local.session.request(
            method, f"{self.url}{path}", headers=headers, timeout=60, **options
        )

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 10, source_address=(FROM, 0))

    def register(self, url: str, count: int = 1) -> list[int]:
        """Register `count` webhooks with paths of their own, until one is refused; return ids."""
        ids = []
        for number in range(count):
            answer = self.ask("POST", "/webhooks", json={"type_id": 3, "url": f"{url}/{number}"})
            if answer.status_code != 200:
                break
            ids.append(answer.json()["data"]["id"])
        return ids
