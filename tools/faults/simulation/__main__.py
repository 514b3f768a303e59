"""Entry point of `./dev simulate` inside `.venv`: a private server, then runs from seeds."""

import os
import shutil
import sys

import django
import psycopg

from tools.dev.places import throwaway_place
from tools.dev.postgres import DATABASE, SUPERUSER, Postgres
from tools.faults.environment import environment


def main() -> int:
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Sets need the same order in each run.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tools.faults.simulation", *sys.argv[1:]])  # noqa: S606
    place = throwaway_place("parceldesk-simulation-")
    server = Postgres(place, throwaway=True)
    try:
        server.start_and_wait()
        with psycopg.connect(
            host=str(place.sockets), user=SUPERUSER, dbname="postgres", autocommit=True
        ) as link:
            link.execute(f"CREATE DATABASE {DATABASE}")
        nobody = "redis://127.0.0.1:1/0"
        os.environ.update(
            environment(database=server.url, broker=nobody, cache=nobody, folder=place.files)
        )
        django.setup()
        from tools.faults.simulation.running import work

        return work(sys.argv[1:], place.sockets)
    finally:
        server.stop()
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
