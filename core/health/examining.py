"""The regular run of doctor's checks on every host."""

from django.db import connection

from core.data import database
from core.health import host_traits
from core.watch import doctor, hosts

# A server that does not answer is given up before the time of a check is over.
PATIENCE_SECONDS = 6.0
# Each takes a connection of the database, which others need.
AT_ONCE = 2


def examine_host() -> int:
    """Run the checks that are due here and store their states; returns how many those were."""
    database.wait_at_most(PATIENCE_SECONDS)
    host = hosts.host_name()
    due = hosts.due_checks(doctor.all_checks(), host)
    # One who waits for a connection must not hold one.
    connection.close()
    found = doctor.examine_all(due, AT_ONCE)
    hosts.store_report(list(zip(due, found, strict=True)), host_traits.own_traits(), host)
    return len(due)
