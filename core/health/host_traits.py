"""Traits that all hosts of a deployment must have in common."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from secrets import token_hex
from uuid import UUID

from celery import current_app
from django.conf import settings

from core.files import storage
from core.jobs.deployments import deployment_id
from core.watch import hosts
from core.watch.doctor import Concern

logger = logging.getLogger(__name__)

# A file that all hosts must find in the storage, with the same content.
MARK = "deployment-mark"
# Hosts differ in these while they are upgraded.
MAY_DIFFER = ("version",)


def own_traits() -> dict[str, str]:
    """Read the traits of this host; those that cannot be read are left out."""
    traits = {}
    for name, read in TRAITS.items():
        try:
            traits[name] = read()
        except Exception as error:  # a check of its own says what is wrong with that part
            logger.debug("cannot read %s of this host: %s", name, error)
    return traits


def fingerprint(*secrets: str) -> str:
    """Return a digest by which secrets can be compared within this deployment only."""
    text = "\0".join(sorted(secrets)).encode()
    return hashlib.blake2b(text, key=UUID(deployment_id()).bytes, digest_size=6).hexdigest()


def broker_identity() -> str:
    """Return the id of a Redis server, which distinguishes two that are both called localhost."""
    with current_app.connection_for_write() as link:
        client = getattr(link.default_channel, "client", None)
        if client is None:
            return f"{link.hostname}:{link.port}/{link.virtual_host}"
        return str(client.info("server")["run_id"])


def storage_mark() -> str:
    """Return the content of the mark in the storage of files; create it if it is missing."""
    try:
        return storage.read_file(MARK).decode()
    except storage.FileMissing:
        storage.write_file(MARK, token_hex(8).encode())
        # Another host may have been faster.
        return storage.read_file(MARK).decode()


TRAITS: Mapping[str, Callable[[], str]] = {
    "version": lambda: settings.VERSION,
    "DEPLOYMENT": lambda: settings.DEPLOYMENT_KEY,
    "SECRET_KEY": lambda: fingerprint(settings.SECRET_KEY),
    "FIELD_KEYS": lambda: fingerprint(*settings.FIELD_KEYS),
    "storage of files": storage_mark,
    "broker": broker_identity,
}


def compare_hosts() -> str:
    """Compare the traits of this host with those that others have reported.

    Raises RuntimeError if they differ, Concern if they may for a while.
    """
    traits = {**hosts.traits_by_host(), hosts.host_name(): own_traits()}
    differing = [name for name in TRAITS if len(values_of(traits.values(), name)) > 1]
    if differing:
        text = "; ".join(
            f"{name} differs: "
            + ", ".join(f"{host} has {own[name]}" for host, own in traits.items() if name in own)
            for name in differing
        )
        raise Concern(text) if set(differing) <= set(MAY_DIFFER) else RuntimeError(text)
    return f"{len(traits)}, alike" if len(traits) > 1 else "only this one"


def values_of(traits: Iterable[Mapping[str, str]], name: str) -> set[str]:
    return {own[name] for own in traits if name in own}
