"""Audit log of the acts of operators, by command, at the desk and by tasks.

Acts on a single ticket are in its history, and changes in the admin in Django's own log; the
command `audit` shows those of the desk next to these.
Why: decision page audit-is-written-before-the-act.
"""

import getpass
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from companies.models import AuditEntry
from core.watch import request_ids

OUTCOME_DONE = "done"
SHORTEST_PRIVATE = 2
LONGEST = {"actor": 200, "about": 300, "outcome": 300}


def begin_entry(
    act: str,
    *,
    actor: str,
    via: AuditEntry.Via,
    about: str = "",
    company_id: int | None = None,
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Record that somebody begins an act; `end_entry` records its outcome.

    `act` is the name of the command that does the same. `details` must be JSON, without secrets
    and without anything that identifies a person: entries outlive an erasure.
    """
    return AuditEntry.objects.create(
        act=act,
        actor=actor[: LONGEST["actor"]],
        via=via,
        about=about[: LONGEST["about"]],
        company_id=company_id,
        details=dict(details or {}),
        request_id=request_ids.current(),
    )


def end_entry(entry: AuditEntry, outcome: str = OUTCOME_DONE) -> None:
    """Record the outcome of an act, once."""
    entry.outcome, entry.ended_at = outcome[: LONGEST["outcome"]], timezone.now()
    entry.save(update_fields=["outcome", "ended_at"])


def record_act(act: str, **about: Any) -> AuditEntry:
    """Record a finished act, in the caller's transaction. Takes what `begin_entry` takes."""
    entry = begin_entry(act, **about)
    end_entry(entry)
    return entry


@contextmanager
def auditing(act: str, *, private: Iterable[str] = (), **about: Any) -> Iterator[AuditEntry]:
    """Record an act around a block, and its outcome. Takes what `begin_entry` takes.

    Set `outcome` on the entry to say more than that it is done. The texts of `private` are blanked
    in the outcome of a failure.
    """
    entry = begin_entry(act, **about)
    try:
        yield entry
    except BaseException as error:
        # The database itself may have failed: the entry then stays without an outcome.
        with suppress(DatabaseError):
            end_entry(entry, blanked(f"failed: {error or type(error).__name__}", private))
        raise
    end_entry(entry, entry.outcome or OUTCOME_DONE)


def blanked(text: str, private: Iterable[str]) -> str:
    """Return the first line of a text, without the private texts."""
    line = text.partition("\n")[0]
    for each in sorted(private, key=len, reverse=True):
        # One or two letters identify nobody, and occur in every word.
        if len(each) > SHORTEST_PRIVATE:
            line = line.replace(each, "…")
    return line


def shell_user() -> str:
    """Return who runs this command: the login, also under sudo, and the host."""
    try:
        name = os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        # The user of a container may have no name.
        name = f"uid {os.getuid()}"
    return f"{name}@{socket.gethostname()}"
