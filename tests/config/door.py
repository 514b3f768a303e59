"""The web process's worker in the process of the tests: real sockets, and a clock to push on."""

import os
import re
import selectors
import shlex
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from config.door.connections import Stage
from config.door.front import FrontDoor
from config.server import Worker
from tools.faults.service import PROCFILE

GET = b"GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"
LIMIT = 1024 * 1024


class Recorder:
    """An application that answers with the body it gets; /held waits for `gate` before, and
    /limited says 429. The query is the size of the answer, which /streamed sends piece by piece
    and /file from a file."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.asked: list[str] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
        self.asked.append(path)
        if path == "/held":
            self.gate.wait(20)
        body = b"a" * int(query) if query else b""
        if path == "/echo":
            body = environ["wsgi.input"].read()
        status = "429 Too Many Requests" if path == "/limited" else "200 OK"
        if path == "/streamed":
            start_response(status, [])
            return [body[start : start + 10_000] for start in range(0, len(body), 10_000)]
        start_response(status, [("Content-Length", str(len(body)))])
        if path == "/file":
            file = tempfile.TemporaryFile()  # noqa: SIM115 - gunicorn closes it
            file.write(body)
            file.seek(0)
            return environ["wsgi.file_wrapper"](file)
        return [body]


class Door:
    def __init__(self, application: Any, **settings: Any) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        cfg = Config()
        line = re.sub(r"\$\{\w+:-(.*?)\}", r"\1", PROCFILE["web"].partition("$(")[0])
        for name, value in vars(cfg.parser().parse_args(shlex.split(line)[1:])).items():
            if value is not None and name not in ("args", "bind", "workers", "preload_app"):
                cfg.set(name, value)
        for name, value in settings.items():
            cfg.set(name, value)
        self.worker = Worker(1, os.getppid(), [self.listener], None, 60, cfg, Logger(cfg))
        self.worker.tpool = self.worker.get_thread_pool()
        self.worker.poller = selectors.DefaultSelector()
        self.worker.method_queue.init()
        self.worker.wsgi = application
        self.late = 0.0
        self.clients: list[socket.socket] = []
        self.thread = threading.Thread(target=self.worker.run)

    def clock(self) -> float:
        return time.monotonic() + self.late

    def later(self, seconds: float) -> None:
        """Let the event loop believe that so much time has passed, and look at its deadlines."""
        self.late += seconds
        self.worker.method_queue.defer(lambda: None)

    def stages(self) -> list[Stage]:
        return [connection.stage for connection in list(self.worker.clients.crowd)]

    def has(self, stage: Stage, count: int = 1) -> None:
        """Return once so many connections are in this stage."""
        for _ in range(4000):
            if self.stages().count(stage) == count:
                return
            time.sleep(0.005)
        raise TimeoutError(f"{self.stages()} are not {count} times {stage}")

    def connect(self, sent: bytes = b"") -> socket.socket:
        client = socket.create_connection(self.listener.getsockname(), timeout=20)
        self.clients.append(client)
        client.sendall(sent)
        return client

    def ask(self, sent: bytes) -> bytes:
        """What somebody else gets to read, on a connection of their own."""
        return read_answer(self.connect(sent))

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        self.worker.handle_exit(0, None)
        self.thread.join(20)
        self.worker.tmp.close()


def read_answer(client: socket.socket) -> bytes:
    """One whole answer, head and body; empty where the connection was closed instead."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (data := client.recv(65536)):
            return received
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"),
        0,
    )
    while len(body) < length and (data := client.recv(65536)):
        body += data
    return head + b"\r\n\r\n" + body


def is_closed(client: socket.socket) -> bool:
    """Whether the other side has closed; waits for it, or for an answer."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@contextmanager
def opened(application: Any, **settings: Any) -> Iterator[Door]:
    door = Door(application, **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FrontDoor, "clock", staticmethod(door.clock))
        door.thread.start()
        while not hasattr(door.worker, "clients"):
            time.sleep(0.001)
        try:
            yield door
        finally:
            door.stop()
