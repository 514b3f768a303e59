"""Who did what to the service: the acts of operators, by command, at the desk and by tasks.

What is done to a single ticket stands in its history, and what the admin changes in Django's own
log; the command `audit` shows those of the desk beside these.
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

DONE = "done"
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
    """Write down that somebody sets about something; `end_entry` says what became of it.

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


def end_entry(entry: AuditEntry, outcome: str = DONE) -> None:
    """Write down what became of it, once."""
    entry.outcome, entry.ended_at = outcome[: LONGEST["outcome"]], timezone.now()
    entry.save(update_fields=["outcome", "ended_at"])


def record_act(act: str, **about: Any) -> AuditEntry:
    """Write down, in the caller's transaction, what it does. Takes what `begin_entry` takes."""
    entry = begin_entry(act, **about)
    end_entry(entry)
    return entry


@contextmanager
def noted(act: str, *, private: Iterable[str] = (), **about: Any) -> Iterator[AuditEntry]:
    """Write down what is done meanwhile and how it ended. Takes what `begin_entry` takes.

    Set `outcome` on the entry to say more than that it is done. The texts of `private` are blanked
    in what it says of a failure.
    """
    entry = begin_entry(act, **about)
    try:
        yield entry
    except BaseException as error:
        # The database itself may be what failed. The entry is left without an outcome then.
        with suppress(DatabaseError):
            end_entry(entry, blanked(f"failed: {error or type(error).__name__}", private))
        raise
    end_entry(entry, entry.outcome or DONE)


def blanked(text: str, private: Iterable[str]) -> str:
    """The first line of it, without these."""
    line = text.partition("\n")[0]
    for each in sorted(private, key=len, reverse=True):
        # A letter or two name nobody, and stand in every word.
        if len(each) > SHORTEST_PRIVATE:
            line = line.replace(each, "…")
    return line


def shell_user() -> str:
    """Who runs this command: the login, also behind sudo, and the host."""
    try:
        name = os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        # As in containers, whose user may have no name.
        name = f"uid {os.getuid()}"
    return f"{name}@{socket.gethostname()}"
