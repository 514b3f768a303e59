"""One client's connection, and what it waits for."""

import socket
from enum import Enum
from typing import Any

from config.door import allowances
from config.door.incoming import RequestReader
from config.door.outlet import Outlet


class Stage(Enum):
    """What a connection waits for. Each has a deadline, but for ANSWER: that is the threads'."""

    IDLE = "a request"
    HEAD = "the rest of the headers"
    BODY = "the rest of the body"
    ANSWER = "the application"
    READER = "the client, to read the answer"
    END = "the client, to close"


class Connection:
    """A client's connection. `sock`, `client` and `server` are what gunicorn asks of one."""

    def __init__(self, raw: socket.socket, client: Any, server: Any, cfg: Any) -> None:
        self.raw = raw
        self.client = client
        self.server = server
        self.sock = Outlet(raw)
        self.incoming = RequestReader(cfg, client)
        self.stage = Stage.IDLE
        self.deadline = 0.0
        self.keep = True
        # What the poller watches for, and the bytes that were counted as held.
        self.events = 0
        self.held = 0

    def size(self) -> int:
        """How many bytes of requests and answers it holds."""
        return len(self.incoming) + len(self.sock)

    def patience(self, stage: Stage, keepalive: float, stopping: bool) -> float:
        """How many seconds its client has in a stage."""
        if stopping and stage in (Stage.IDLE, Stage.END):
            return allowances.STOP_SECONDS
        if stage is Stage.IDLE:
            return keepalive
        if stage is Stage.HEAD:
            return allowances.HEAD_SECONDS
        if stage is Stage.BODY:
            return self.incoming.allowance.seconds
        if stage is Stage.READER:
            return allowances.ANSWER_SECONDS + len(self.sock) / allowances.SLOWEST_READER
        return allowances.LINGER_SECONDS
