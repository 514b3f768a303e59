"""Whether deliveries go out: loops, what is due, periodic tasks, partitions (companies.doctor)."""

import resource
import ssl
from datetime import UTC, datetime

import certifi
from django.conf import settings
from django.db import connection

from companies.doctor import Concern, register
from deliveries.engine.rooms import SLOTS

# A loop keeps a socket for each slot, a second for some of them while names are looked up, and has
# files of its own.
OPEN_FILES = 2 * SLOTS + 256
LOOPS = """
SELECT count(*) FILTER (WHERE lease_until > statement_timestamp()), count(DISTINCT host)
FROM deliveries_loop WHERE NOT lost
"""


@register("Start a worker, or look in its log for why its loops end.")
def engine_loops() -> str:
    with connection.cursor() as cursor:
        cursor.execute(LOOPS)
        alive, hosts = cursor.fetchone()
    wanted = settings.DELIVERY_LOOPS
    if not alive:
        raise RuntimeError("no loop is alive, so nothing is sent")
    if alive < wanted:
        raise Concern(f"{alive} of {wanted} loops are alive")
    return f"{alive} alive on {hosts} host{'' if hosts == 1 else 's'}"


@register("Raise the limit where workers are started (LimitNOFILE of systemd, or ulimit -n).")
def open_files() -> str:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < OPEN_FILES:
        raise Concern(f"{hard} may be open at once, and a loop with much to do needs {OPEN_FILES}")
    return "unlimited" if hard == resource.RLIM_INFINITY else f"{hard} may be open at once"


@register("Set DELIVERY_CA_BUNDLE to a PEM file of authorities, or leave it out.")
def outgoing_tls() -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(settings.DELIVERY_CA_BUNDLE or certifi.where())
    authorities = context.get_ca_certs()
    if not authorities:
        raise RuntimeError("no authority is known, so no receiver is trusted")
    now = datetime.now(UTC).timestamp()
    living = [each for each in authorities if ssl.cert_time_to_seconds(str(each["notAfter"])) > now]
    if not living:
        raise RuntimeError("the certificates of all authorities have expired")
    return f"{len(living)} authorities, {ssl.OPENSSL_VERSION}"
