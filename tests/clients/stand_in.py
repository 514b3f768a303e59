"""A service that answers as a test defines, and a loader of clients/ as modules."""

import importlib.util
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any, NamedTuple

from tests.clients.languages import CLIENTS


def load(file: str) -> ModuleType:
    """Load a module of clients/ under a name that nothing else has."""
    name = f"clients_{file.removesuffix('.py').replace('/', '_')}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, CLIENTS / file)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def line(self) -> str:
        return f"{self.method} {self.path}"


class Response(NamedTuple):
    """A response; without a status the connection is cut instead."""

    status: int
    body: Any = None
    headers: dict[str, str] = {}


class StandIn:
    """Replace `answer` to define the responses; `requests` has every request."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        not_found = Response(404, {"message": "Not found."})
        self.answer: Callable[[Request], Response] = lambda _: not_found
        self.url = ""

    def lines(self) -> list[str]:
        return [each.line for each in self.requests]

    @contextmanager
    def serving(self) -> Iterator["StandIn"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield self
        server.shutdown()
        server.server_close()


def handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(content) if content else None
            request = Request(self.command, self.path, dict(self.headers), body)
            stand_in.requests.append(request)
            answer = stand_in.answer(request)
            if not answer.status:
                return
            body = answer.body
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, *_: object) -> None:
            pass

    return Handler
