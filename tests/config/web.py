"""The Procfile's web line as separate processes, and their clients."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.db import connection

from tests.databases import Database
from tests.waiting import wait_until
from tools.faults.ports import free_port
from tools.faults.service import PROCFILE, ROOT

GET = b"GET /quick HTTP/1.1\r\nHost: x\r\n\r\n"
# Nothing takes this long unless it hangs.
PATIENCE_SECONDS = 60


class Web:
    """The web line with its options, on the tests' database, with a stub application.

    `options` are further ones of gunicorn's, which override those of the line; `constants` are
    set by the recorder. `environment` is added to that of the tests.
    """

    def __init__(
        self,
        folder: Path,
        application: str = "tests.config.recorder",
        options: str = "",
        constants: dict[str, Any] | None = None,
        **environment: str,
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.clients: list[socket.socket] = []
        line = PROCFILE["web"].replace("config.wsgi", application, 1)
        self.log = (folder / "log").open("w+")
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line} {options}"],
            cwd=ROOT,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "DATABASE_URL": Database(connection.settings_dict["NAME"]).url,
                "RECORDER": str(folder),
                "CONSTANTS": json.dumps(constants or {}),
                "BIND": "127.0.0.1",
                "PORT": str(self.port),
                "WEB_CONCURRENCY": "1",
                **environment,
            },
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def wait(self) -> None:
        wait_until(self.answers, "the web process to answer")

    def answers(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with suppress(OSError):
            return bool(self.ask(GET.replace(b"quick", b"healthz").replace(b": x", b": localhost")))
        return False

    @property
    def workers(self) -> list[int]:
        """Return the ids of the processes that answer."""
        main = self.process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text()
        return [int(number) for number in children.split()]

    def memory(self) -> int:
        """Return the memory of the processes that answer, in bytes."""
        page = os.sysconf("SC_PAGE_SIZE")
        pages = (Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in self.workers)
        return sum(map(int, pages)) * page

    @property
    def asked(self) -> list[str]:
        """Paths that have reached the recorder, without those of probes."""
        with suppress(FileNotFoundError):
            lines = (self.folder / "asked").read_text().split()
            return [path for path in lines if path != "/healthz"]
        return []

    def is_asked(self, path: str, times: int = 1) -> None:
        """Wait until the path has been requested this many times."""
        wait_until(lambda: self.asked.count(path) >= times, f"{path}, {times} times")

    def forget(self) -> None:
        (self.folder / "asked").unlink(missing_ok=True)
        (self.folder / "gate").unlink(missing_ok=True)

    def open_gate(self) -> None:
        (self.folder / "gate").touch()

    def connect(self, data: bytes = b"", receive_buffer: int = 0) -> socket.socket:
        client = socket.socket()
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(PATIENCE_SECONDS)
        self.clients.append(client)
        client.connect(("127.0.0.1", self.port))
        client.sendall(data)
        return client

    def ask(self, data: bytes) -> bytes:
        """Return the response that another client gets, on a connection of its own."""
        client = self.connect(data)
        answer = read_answer(client)
        client.close()
        return answer

    def close_clients(self) -> None:
        while self.clients:
            self.clients.pop().close()

    def ask_to_stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait_for_end(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        self.close_clients()
        self.open_gate()
        with ExitStack() as every:
            every.callback(self.log.close)
            every.callback(self.kill)
            self.ask_to_stop()
            self.wait_for_end()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def running(
    folder: Path, application: str = "tests.config.recorder", **options: Any
) -> Iterator[Web]:
    web = Web(folder, application, **options)
    try:
        web.wait()
        yield web
    finally:
        web.stop()


def as_company(token: str, path: str) -> bytes:
    """Build a request of the company with this token."""
    head = b"GET /%b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n\r\n"
    return head % (path.encode(), token.encode())


def asking_for(path: str, version: str = "1.1") -> bytes:
    return f"GET /{path} HTTP/{version}\r\nHost: x\r\n\r\n".encode()


def read_answer(client: socket.socket) -> bytes:
    """Return one whole response, head and body; b"" if the connection was closed instead."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (data := client.recv(65536)):
            return received
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    length = length_of(head)
    while len(body) < length and (data := client.recv(65536)):
        body += data
    return head + b"\r\n\r\n" + body


def length_of(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line[15:]) for line in lines if line[:15] == b"content-length:"), 0)


def read_body(file: IO[bytes]) -> bytes:
    """Read the body of the next response, chunked or not; the file may have buffered more."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = file.readline()
        assert line, head
        head += line
    if b"chunked" not in head.lower():
        return file.read(length_of(head)) if b"content-length" in head.lower() else file.read()
    body = b""
    while length := int(file.readline(), 16):
        body += file.read(length)
        file.readline()
    file.readline()
    return body


def is_closed(client: socket.socket) -> bool:
    """Wait until the other side closes or answers; returns whether it has closed."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True
