"""Checks of `doctor`: loops, backlog, partitions, receivers and the way out to them."""

import resource
import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import certifi
from django.conf import settings
from django.utils import timezone

from core.data.database import rows_of
from core.health import host_traits
from core.watch.doctor import Concern, register
from core.watch.hosts import SILENT_SECONDS, host_name, traits_by_host
from core.watch.readiness import part
from deliveries.engine import leases
from deliveries.engine.holding import current_drain, held_hosts
from deliveries.engine.proxy_check import probe_proxy, proxy_status
from deliveries.engine.slots import SLOTS
from deliveries.engine.standing_by import PRESSED_SLOTS
from deliveries.models import Replay, State
from deliveries.monitoring import backlog
from deliveries.upkeep import partitions, replaying
from webhooks.outgoing import parse_proxy

# A loop has a socket for each slot, a second one for some while names are looked up, and files of
# its own.
OPEN_FILES = 2 * SLOTS + 256
LOOPS = """
SELECT count(*), coalesce(sum(busy), 0), count(DISTINCT host)
FROM deliveries_loop JOIN deliveries_heartbeat ON loop_id = id
WHERE lease_until > statement_timestamp()
"""
SILENT_LOOPS = """
SELECT DISTINCT host FROM deliveries_loop JOIN deliveries_heartbeat ON loop_id = id
WHERE lease_until > statement_timestamp()
  AND started_at < statement_timestamp() - make_interval(secs => %s) AND host <> ALL(%s)
"""
FAILING = """
SELECT count(*), count(*) FILTER (WHERE failures >= %s),
  percentile_disc(0.5) WITHIN GROUP (ORDER BY failing_since)
FROM deliveries_health JOIN webhooks_webhook AS webhook ON webhook.id = webhook_id
WHERE failures > 0 AND failing_since > statement_timestamp() - interval '1 day'
  AND active AND deleted_at IS NULL AND url <> ''
"""
# Counts no more than it takes to say that most are well.
WELL_SINCE = f"""
SELECT count(*) FROM (
  SELECT FROM webhooks_webhook AS webhook
  WHERE active AND deleted_at IS NULL AND url <> ''
    AND NOT EXISTS (SELECT FROM deliveries_health
      WHERE webhook_id = webhook.id AND failures > 0)
    AND EXISTS (SELECT FROM deliveries_delivery AS delivery
      WHERE delivery.webhook_id = webhook.id AND created_at > %s AND state = {State.DELIVERED})
  LIMIT %s) AS counted
"""  # noqa: S608 - our own text
# Fewer receivers must have failed several times each: one or two failures happen to every one.
MANY_RECEIVERS, SEVERAL_FAILURES = 5, 3
CRASHED = "SELECT count(*), count(DISTINCT host) FROM deliveries_loop WHERE lost"
MANY_CRASHED = 3
MOST_LIVE = 0.9
SCHEDULER_MAY_BE_AWAY = timedelta(seconds=30)
DUE_MAY_WAIT = timedelta(minutes=2)


@register("Start a worker: its scheduler runs the jobs.")
@part()
def scheduler() -> str:
    last = backlog.last_pulse()
    if last is None:
        raise RuntimeError("no job has run yet: start a worker")
    age = timezone.now() - last
    if age > SCHEDULER_MAY_BE_AWAY:
        seconds = f"{age.total_seconds():.0f} s"
        raise RuntimeError(f"no scheduler has begun a sweep for {seconds}: start a worker")
    return f"last sweep {age.total_seconds():.1f} s ago"


@register(
    "Start a worker where none is alive (engine_loops); else raise DELIVERY_LOOPS and the number of"
    " workers, or look at PostgreSQL's load.",
)
@part(gauge=False)
def oldest_due_delivery() -> str:
    oldest = backlog.oldest_due()
    if oldest is None:
        return "nothing is due"
    age = timezone.now() - oldest
    if age > DUE_MAY_WAIT:
        due = f"due for {age.total_seconds():.0f} s"
        if not leases.running_loops().loops:
            raise RuntimeError(f"{due}: no worker sends anything; start one")
        raise RuntimeError(f"{due}: the workers cannot keep up")
    return f"due for {max(0.0, age.total_seconds()):.1f} s"


@register("Run manage.py migrate, or restart a worker.", name="partitions")
@part()
def weeks_ahead() -> str:
    if troubles := partitions.partition_troubles():
        raise RuntimeError(f"{'; '.join(troubles)}: run manage.py migrate, or start a worker")
    fewest = min(state.weeks_ahead for state in partitions.partition_states())
    return f"partitions for {fewest} weeks ahead"


@register("Look in the log of workers for why, or end it: manage.py redeliver --stop RUN.")
def replays() -> str:
    """Check that replays which are under way make progress."""
    under_way = list(Replay.objects.filter(ended_at=None).order_by("pk"))
    for run in under_way:
        if replaying.stands_still(run) and not current_drain():
            raise Concern(f"{run} has stood still since {run.moved_at:%Y-%m-%d %H:%M} UTC")
    return f"{len(under_way)} under way" if under_way else "none is under way"


@register(
    "Give all hosts the same variables, storage of files and version: docs/operations/growing.md.",
    name="hosts",
)
def hosts_are_alike() -> str:
    """Compare the traits of hosts, and look for those that send and report nothing."""
    summary = host_traits.compare_hosts()
    reporting = [*traits_by_host(), host_name()]
    if silent := [host for (host,) in rows_of(SILENT_LOOPS, SILENT_SECONDS, reporting)]:
        raise Concern(f"no report has come for {SILENT_SECONDS} s from {', '.join(silent)}")
    return summary


@register("Start a worker, or look in its log for why its loops end.")
def engine_loops() -> str:
    """Check that loops are alive; fewer than DELIVERY_LOOPS will do unless they are pressed."""
    ((alive, busy, hosts),) = rows_of(LOOPS)
    wanted = settings.DELIVERY_LOOPS
    if not alive:
        raise RuntimeError("no loop is alive, so nothing is sent")
    if alive < wanted and busy >= alive * PRESSED_SLOTS:
        raise Concern(f"{alive} of {wanted} loops are alive, with {busy} requests in flight")
    return f"{alive} alive on {hosts} host{'' if hosts == 1 else 's'}"


@register("Look in the worker's log for why: docs/operations/runbooks.md#crash-loop.")
def engine_restarts() -> str:
    """Count loops that ended without notice; they are known for two minutes."""
    ((crashed, hosts),) = rows_of(CRASHED)
    if crashed >= MANY_CRASHED:
        raise Concern(f"{crashed} loops died within two minutes, on {hosts} hosts")
    return f"{crashed} loops died within two minutes" if crashed else "no loop died"


@register("Run manage.py resume, or manage.py release_host, once whoever did it is ready.")
def sending() -> str:
    """Check that no operator has stopped sending, to all hosts or to some."""
    drain = current_drain()
    if drain:
        since = f"{drain.since:%Y-%m-%d %H:%M} UTC"
        raise Concern(f"nothing has been sent since {since}, when {drain.by} ran drain")
    if holds := held_hosts():
        raise Concern(f"{len(holds)} hosts are held, for longest {holds[0].host}")
    return "nothing is held"


@register(
    "Raise the limit where workers are started (LimitNOFILE of systemd, or ulimit -n).",
    per_host=True,
)
def open_files() -> str:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < OPEN_FILES:
        raise Concern(f"{hard} may be open at once, and a loop with much to do needs {OPEN_FILES}")
    return "unlimited" if hard == resource.RLIM_INFINITY else f"{hard} may be open at once"


register(
    "Start the proxy, or correct DELIVERY_PROXY: nothing is delivered until it works.",
    name="outgoing_proxy",
    per_host=True,
)(probe_proxy)
# Reads what the loops found, so that no request has to probe the proxy (decision N23).
part("outgoing_proxy")(proxy_status)


@register(
    "Set SENDER_ADDRESSES to the addresses that the proxy sends from, as receivers see them.",
    name="sender_addresses",
    per_host=True,
)
def sender_addresses() -> str:
    """Check that companies are told to allow the proxy's addresses, which receivers see."""
    networks = settings.SENDER_ADDRESSES
    proxy = parse_proxy(settings.DELIVERY_PROXY)
    summary = f"{len(networks)} networks" if networks else "companies are told of none"
    if proxy is None or not networks:
        return summary
    where = ip_address(proxy.host) if proxy.is_address else None
    if where and where.is_global and not any(where in network for network in networks):
        raise Concern(f"deliveries leave through {where}, which is not among them")
    ours = [str(one.network_address) for one in networks if one.num_addresses == 1 and is_ours(one)]
    if ours and not (where and is_ours(ip_network(where))):
        raise Concern(f"{ours[0]} is this host's, and deliveries leave through {proxy.host}")
    return f"{summary}, of the proxy {proxy.host} as far as can be told"


def is_ours(network: IPv4Network | IPv6Network) -> bool:
    """Return whether the first address of a network is one of this host's."""
    family = socket.AF_INET if network.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(network.network_address), 0))
        except OSError:
            return False
    return True


@register(
    "Set DELIVERY_CA_BUNDLE to a current PEM file of authorities, or leave it out.", per_host=True
)
def outgoing_tls() -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(settings.DELIVERY_CA_BUNDLE or certifi.where())
    authorities = context.get_ca_certs()
    if not authorities:
        raise RuntimeError("no authority is known, so no receiver is trusted")
    now = datetime.now(UTC).timestamp()
    valid = [each for each in authorities if ssl.cert_time_to_seconds(str(each["notAfter"])) > now]
    if not valid:
        raise RuntimeError("the certificates of all authorities have expired")
    if len(valid) < MOST_LIVE * len(authorities):
        expired = len(authorities) - len(valid)
        raise Concern(f"{expired} of {len(authorities)} authorities have expired: an old bundle")
    return f"{len(valid)} authorities, {ssl.OPENSSL_VERSION}"


@register("Try one with curl from a worker's host: what most have in common is on our side.")
def receivers() -> str:
    """Compare webhooks that began to fail with those that got a delivery meanwhile.

    If a few fail, the cause is theirs. If most do, it is ours: the network, DNS, certificates.
    """
    ((failing, often, since),) = rows_of(FAILING, SEVERAL_FAILURES)
    if not failing:
        return "none began to fail within a day"
    # Half of them began to fail before `since`: a few that are down for long do not move it.
    ((well,),) = rows_of(WELL_SINCE, since, failing)
    more = " or more" if well == failing else ""
    summary = f"{failing} of {failing + well}{more} began to fail within a day"
    if failing > well and (failing >= MANY_RECEIVERS or often > well):
        raise Concern(summary)
    return summary
