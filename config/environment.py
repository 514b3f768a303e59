"""Strict reader of environment variables: an invalid value is reported, never guessed."""

import builtins
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from config.networks import Network, parse_networks

TRUE = ("true", "on", "yes", "y", "1")
FALSE = ("false", "off", "no", "n", "0", "")
SOCKET = re.compile(r"(/[^:]*):([0-9]{1,5})")
POSTGRESQL = ("postgres://", "postgresql://", "psql://", "pgsql://")


class Environment(environ.Env):
    """django-environ's reader without its guesses: it takes `flase` for false and `5s` for 5.0.

    Every method raises ImproperlyConfigured with the name of the variable. With `unreadable`, the
    problem of a variable that has a default is noted there instead, and a check stops the processes
    that use it: a typo in the mail server's port must not keep an operator from revoking a token.
    """

    unreadable: builtins.dict[str, str] | None = None

    def int(self, var: str, default: Any = environ.Env.NOTSET) -> builtins.int:
        number: builtins.int = self.read(var, int, default, "a whole number")
        return number

    def float(self, var: str, default: Any = environ.Env.NOTSET) -> builtins.float:
        number: builtins.float = self.read(var, float, default, "a number")
        return number

    def bool(self, var: str, default: Any = environ.Env.NOTSET) -> builtins.bool:
        flag: builtins.bool = self.read(var, read_flag, default, "true or false")
        return flag

    def listed(self, var: str, cast: Callable[[str], Any], default: Any, kind: str) -> Any:
        """Read a comma-separated list, each part by `cast`; `kind` names the type in errors."""
        return self.read(var, lambda text: [cast(each) for each in parts(text)], default, kind)

    def networks(self, var: str, default: Iterable[str]) -> tuple[Network, ...]:
        """Read a comma-separated list of networks in CIDR notation."""
        kind = "a list of networks such as 10.0.0.0/8"
        networks: tuple[Network, ...] = self.read(
            var, lambda text: parse_networks(parts(text)), parse_networks(default), kind
        )
        return networks

    def postgresql(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        """Read the address of a PostgreSQL database; errors leave out its password."""
        address = self.str(var, default)
        try:
            if address.startswith(POSTGRESQL):
                return with_socket_port(self.db_url_config(address))
        except (ValueError, KeyError):
            pass
        raise ImproperlyConfigured(
            f"{var} is not the address of a PostgreSQL: write postgres://user:password@host/name."
        )

    def read(self, var: str, cast: Callable[[str], Any], default: Any, kind: str) -> Any:
        if var not in os.environ and default is not self.NOTSET:
            return default
        text = self.str(var)
        try:
            return cast(text)
        except ValueError:
            problem = f"{var} is {text!r}, which is not {kind}."
        if self.unreadable is None or default is self.NOTSET:
            raise ImproperlyConfigured(problem)
        self.unreadable[var] = problem
        return default


def with_socket_port(address: dict[str, Any]) -> dict[str, Any]:
    """Split the port from the folder of a Unix socket, which django-environ leaves in HOST."""
    sockets = [SOCKET.fullmatch(each) for each in str(address.get("HOST") or "").split(",")]
    if not all(sockets):
        return address
    hosts = ",".join(each[1] for each in sockets if each)
    return {**address, "HOST": hosts, "PORT": ",".join(each[2] for each in sockets if each)}


def read_flag(text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ValueError(text)
    return word in TRUE


def parts(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
