"""The regular run of doctor's checks on every host."""

from django.db import connection

from core.data import database
from core.health import host_traits
from core.watch import doctor, hosts

# An unresponsive server is given up before the time of a check is over.
PATIENCE_SECONDS = 6.0
# Checks at once: each takes a database connection, which others need.
AT_ONCE = 2


def examine_host() -> int:
    """Run the checks that are due on this host and store their states; return their number."""
    database.wait_at_most(PATIENCE_SECONDS)
    host = hosts.host_name()
    due = hosts.due_checks(doctor.all_checks(), host)
    # A process that waits for connections must not hold one.
    connection.close()
    findings = doctor.examine_all(due, AT_ONCE)
    hosts.store_report(list(zip(due, findings, strict=True)), host_traits.own_traits(), host)
    return len(due)
