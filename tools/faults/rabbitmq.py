"""RabbitMQ of the distribution as a private server instead of Valkey."""

import os
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

from tools.dev.places import Place, as_account
from tools.dev.servers import Server
from tools.faults.ports import free_port

# The scripts in /usr/sbin require the account and the folders of the packaged server.
PROGRAMS = Path("/usr/lib/rabbitmq/bin")
SERVER = str(PROGRAMS / "rabbitmq-server")
PROTOCOL, START = b"AMQP\0\0\x09\x01", b"\x01\0\0"
ANSWER_WITHIN_SECONDS = 1
# Start epmd ourselves, so that it ends with the broker; Erlang's own would outlive it.
TOGETHER = 'setpriv --pdeathsig KILL epmd & exec "$0"'


class RabbitMQ(Server):
    """Throwaway node with its own ports, folders and cookie."""

    name = "rabbitmq"
    # Its child processes end with it, and SIGKILL also ends a frozen one.
    farewell = [(SIGKILL, 5.0)]

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.port, dist_port, epmd_port = (free_port() for _ in range(3))
        home = place.files / "rabbitmq"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),  # folder of the cookie
            "LANG": "C.UTF-8",
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(epmd_port),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq"),
            "RABBITMQ_DIST_PORT": str(dist_port),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "enabled_plugins"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_LOG_BASE": str(home),
            "RABBITMQ_MNESIA_BASE": str(home),
            "RABBITMQ_NODENAME": "parceldesk@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_PID_FILE": str(home / "pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            # Makes the script exec Erlang, so that our signals reach it.
            "RUNNING_UNDER_SYSTEMD": "true",
        }

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def prepare(self) -> None:
        self.place.give(Path(self.environment["HOME"]))

    def command(self) -> list[str | Path]:
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        return ["env", "-i", *settings, "sh", "-c", TOGETHER, SERVER]

    def answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as link:
            link.settimeout(ANSWER_WITHIN_SECONDS)
            link.sendall(PROTOCOL)
            return link.recv(64).startswith(START)
        return False

    def control(self, *arguments: str) -> str:
        """Run rabbitmqctl and return its output. Raises CalledProcessError."""
        process = subprocess.run(
            [PROGRAMS / "rabbitmqctl", "--quiet", *arguments],
            env=self.environment,
            cwd=self.environment["HOME"],
            check=True,
            capture_output=True,
            text=True,
            **as_account(self.place.account),
        )
        return process.stdout
