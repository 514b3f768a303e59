"""The primary is killed under load, a standby takes its place, and the service finds it."""

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from django.db import connection

from tools.dev.places import Place
from tools.dev.postgres import DATABASE, SUPERUSER, Postgres
from tools.faults import database_outages
from tools.faults.rig import Rig, link_to
from tools.faults.scenarios import until
from tools.faults.stand_stills import stall_promises
from tools.faults.tickets import NONE_OF, Opening, judged
from tools.faults.verdict import Verdict, broken

# From the moment in which it is promoted.
BACK_WITHIN_SECONDS = 5.0


class Standby(Postgres):
    """A server that follows another one, with files and a socket of its own."""

    name = "standby"

    def __init__(self, place: Place, primary: Postgres) -> None:
        super().__init__(
            replace(place, files=place.files / "standby", sockets=place.files / "standby-sockets")
        )
        self.primary = primary

    def prepare(self) -> None:
        if not self.data.exists():
            for folder in (self.place.files, self.place.sockets):
                self.place.give(folder)
            source: list[str | Path] = ["-h", self.primary.place.sockets, "-U", SUPERUSER]
            how = ["-X", "stream", "-R", "--checkpoint=fast"]
            self.run("pg_basebackup", *source, *how, "-D", self.data)


def failover(rig: Rig, given: argparse.Namespace) -> Verdict:
    """kill -9 of the primary under load, with a synchronous standby that is promoted then."""
    standby = Standby(rig.place, rig.postgres)
    standby.start_and_wait()
    try:
        follow_synchronously(rig)
        use_both(rig, standby)
        with Opening(rig.service, rig.company) as opening:
            found = database_outages.database_stands_still(
                rig.service,
                rig.company,
                rig.receiver,
                still=lambda: killed_and_replaced(rig, standby),
                seconds=given.seconds,
                per_second=given.per_second,
            )
        found |= opening.summary()
    finally:
        connection.close()
        rig.service.stop(*rig.service.processes)
        standby.stop()
    promises = stall_promises(found) | NONE_OF
    promises["seconds_to_the_first_delivery"] = BACK_WITHIN_SECONDS
    promises["seconds_to_the_first_answer"] = BACK_WITHIN_SECONDS
    troubles = [*broken(found, at_most=promises), *judged(found)]
    if found["api_answers"] != [200, 503]:
        troubles.append(
            f"the API answered {found['api_answers']}, and was to answer 503 while there was no"
            " primary, and else 200"
        )
    return found, troubles


def follow_synchronously(rig: Rig) -> None:
    """From now on nothing counts as committed that the standby has not written down."""
    with link_to(rig.postgres) as link:
        link.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        link.execute("SELECT pg_reload_conf()")

        def follows() -> bool:
            asked = link.execute("SELECT sync_state FROM pg_stat_replication")
            return asked.fetchall() == [("sync",)]

        until(follows, 30)


def use_both(rig: Rig, standby: Postgres) -> None:
    """Point the service at both servers, and this process too."""
    folders = f"{rig.place.sockets},{standby.place.sockets}"
    rig.service.environment["DATABASE_URL"] = f"postgres://{SUPERUSER}@/{folders}/{DATABASE}"
    connection.settings_dict["HOST"] = folders
    connection.settings_dict["OPTIONS"]["target_session_attrs"] = "read-write"
    connection.close()


@contextlib.contextmanager
def killed_and_replaced(rig: Rig, standby: Postgres) -> Iterator[None]:
    """For the length of a block there is no primary; at its end the standby is one."""
    rig.kill_database()
    try:
        yield
    finally:
        with link_to(standby) as link:
            link.execute("SELECT pg_promote(wait => true, wait_seconds => 30)")
