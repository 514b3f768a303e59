"""Failover: the primary is killed under load, and the service finds the promoted standby."""

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

# Limit from the promotion.
BACK_WITHIN_SECONDS = 5.0


class Standby(Postgres):
    """Replica of another server, with files and a socket of its own."""

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


def failover(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill the primary by kill -9 under load, and promote its synchronous standby."""
    standby = Standby(rig.place, rig.postgres)
    standby.start_and_wait()
    try:
        follow_synchronously(rig)
        use_both(rig, standby)
        with Opening(rig.service, rig.company) as opening:
            figures = database_outages.database_stands_still(
                rig.service,
                rig.company,
                rig.receiver,
                still=lambda: killed_and_replaced(rig, standby),
                seconds=args.seconds,
                per_second=args.per_second,
            )
        figures |= opening.summary()
    finally:
        connection.close()
        rig.service.stop(*rig.service.processes)
        standby.stop()
    promises = stall_promises(figures) | NONE_OF
    promises["seconds_to_the_first_delivery"] = BACK_WITHIN_SECONDS
    promises["seconds_to_the_first_answer"] = BACK_WITHIN_SECONDS
    troubles = [*broken(figures, at_most=promises), *judged(figures)]
    if figures["api_answers"] != [200, 503]:
        troubles.append(
            f"the API answered {figures['api_answers']}, and was to answer 503 while there was no"
            " primary, and else 200"
        )
    return figures, troubles


def follow_synchronously(rig: Rig) -> None:
    """Make commits wait until the standby has written them."""
    with link_to(rig.postgres) as link:
        link.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        link.execute("SELECT pg_reload_conf()")

        def follows() -> bool:
            rows = link.execute("SELECT sync_state FROM pg_stat_replication")
            return rows.fetchall() == [("sync",)]

        until(follows, 30)


def use_both(rig: Rig, standby: Postgres) -> None:
    """Point the service and this process at both servers."""
    folders = f"{rig.place.sockets},{standby.place.sockets}"
    rig.service.environment["DATABASE_URL"] = f"postgres://{SUPERUSER}@/{folders}/{DATABASE}"
    connection.settings_dict["HOST"] = folders
    connection.settings_dict["OPTIONS"]["target_session_attrs"] = "read-write"
    connection.close()


@contextlib.contextmanager
def killed_and_replaced(rig: Rig, standby: Postgres) -> Iterator[None]:
    """Kill the primary for the duration of a block; at its end promote the standby."""
    rig.kill_database()
    try:
        yield
    finally:
        with link_to(standby) as link:
            link.execute("SELECT pg_promote(wait => true, wait_seconds => 30)")
