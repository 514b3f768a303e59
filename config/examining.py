"""Doctor's checks: all of them, and their regular run on every host."""

import logging
from importlib import import_module

from django.apps import apps
from django.db import connection
from django.utils.module_loading import autodiscover_modules

from config import host_traits
from core.data import database
from core.watch import doctor, hosts

logger = logging.getLogger(__name__)

# A server that does not answer is given up before the time of a check is over.
PATIENCE_SECONDS = 6.0
# Each takes a connection of the database, which others need.
AT_ONCE = 2


def all_checks() -> list[doctor.Check]:
    """Return the checks of what everything stands on first, then those of the apps in order."""
    import_module("config.doctor_checks")
    autodiscover_modules("doctor_checks", "people.doctor_checks")
    order = ["config", *(app.name for app in apps.get_app_configs())]
    return sorted(
        doctor.checks,
        key=lambda check: order.index(check.examine.__module__.partition(".")[0]),
    )


def examine_host() -> int:
    """Run the checks that are due here and store their states; returns how many those were."""
    database.wait_at_most(PATIENCE_SECONDS)
    host = hosts.host_name()
    due = hosts.due_checks(all_checks(), host)
    # One who waits for a connection must not hold one.
    connection.close()
    found = doctor.examine_all(due, AT_ONCE)
    hosts.store_report(list(zip(due, found, strict=True)), host_traits.own_traits(), host)
    return len(due)
