"""A client's connection and its stages."""

import socket
from enum import Enum
from typing import Any

from config.door import allowances
from config.door.incoming import RequestReader
from config.door.outlet import Outlet


class Stage(Enum):
    """Stage of a connection, named by what it waits for. All but ANSWER have a deadline."""

    IDLE = "a request"
    HEAD = "the rest of the headers"
    BODY = "the rest of the body"
    ANSWER = "the application"
    READER = "the client, to read the answer"
    END = "the client, to close"


class Connection:
    """A client's connection. gunicorn reads `sock`, `client` and `server`."""

    def __init__(self, raw: socket.socket, client: Any, server: Any, cfg: Any) -> None:
        self.raw = raw
        self.client = client
        self.server = server
        self.sock = Outlet(raw)
        self.incoming = RequestReader(cfg, client)
        self.stage = Stage.IDLE
        self.deadline = 0.0
        self.keep = True
        # Bytes of answers that the client had received when its deadline was set.
        self.delivered = 0
        # Events that the poller watches for.
        self.events = 0
        # Bytes that the crowd has counted for it: in memory, and on disk.
        self.memory_bytes = 0
        self.spooled = 0

    def size(self) -> int:
        """Return the bytes of requests and answers in memory."""
        return len(self.incoming) + len(self.sock)

    def reads_on(self) -> bool:
        """Tell if the client has read enough of the answer since the deadline was set."""
        return self.sock.delivered() - self.delivered >= allowances.READER_BYTES

    def patience(self, stage: Stage, keepalive: float, stopping: bool) -> float:
        """Return the seconds that the client has in a stage; READER counts its bytes anew."""
        if stopping and stage in (Stage.IDLE, Stage.END):
            return allowances.STOP_SECONDS
        if stage is Stage.IDLE:
            return keepalive
        if stage is Stage.HEAD:
            return allowances.HEAD_SECONDS
        if stage is Stage.BODY:
            return self.incoming.allowance.seconds
        if stage is Stage.READER:
            self.delivered = self.sock.delivered()
            return allowances.READER_SECONDS
        return allowances.LINGER_SECONDS
