"""Throughput of a backlog to one fast receiver, compared with two peers on the same servers.

Our deliveries appear in one commit while the worker of the Procfile is up. A peer's wait in
the broker, as its own design requires, until its worker starts; it has fewer, as it is slower.
Deliveries a second count from the first request that arrives to the last. The last row is
libcurl alone, as a measure of the machine's speed.
"""

import argparse
from typing import Any

from tools.bench import bare, draining, load
from tools.bench.draining import Drained
from tools.bench.outcome import Outcome, Table
from tools.bench.peers import running, venv
from tools.bench.peers.running import Peer, PeerDrained
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig

PEERS = {
    "django-webhook": Peer("djangowebhook", venv.PYTHON),
    "django-webhook-kept": Peer("djangowebhook", venv.PYTHON, keeps_connection=True),
    "plain": Peer("plain"),
    "plain-kept": Peer("plain", keeps_connection=True),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=20_000, help="deliveries that wait")
    parser.add_argument(
        "--also", type=int, nargs="*", default=[1_000, 5_000, 100_000], help="further sizes"
    )
    parser.add_argument(
        "--peers", nargs="*", choices=PEERS, default=list(PEERS), help="measured beside us"
    )
    parser.add_argument("--peer-size", type=int, default=1_000, help="deliveries of each peer")


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    if any(PEERS[name].python == venv.PYTHON for name in args.peers):
        venv.install()
    with Receiver(rig.folder) as receiver:
        rig.start()
        ours = [backlog(rig, receiver, size) for size in sorted({args.size, *args.also})]
        if args.peers:
            rig.stop()
        alone = bare.measure(receiver.url("in"), args.size)
        theirs = {
            name: running.drain(name, PEERS[name], rig, receiver, args.peer_size)
            for name in args.peers
        }
    main = next(each for each in ours if each.size == args.size)
    return Outcome(
        table=table(ours, theirs, alone),
        figures={**figures(main, ours, theirs), "libcurl_alone": alone},
        troubles=[
            *(trouble for each in ours for trouble in each.books.troubles()),
            *(f"{name} lost {each.lost}" for name, each in theirs.items() if each.lost),
        ],
    )


def backlog(rig: Rig, receiver: Receiver, size: int) -> Drained:
    return draining.drain(rig, receiver, load.webhooks([receiver.url("in")]), size)


def table(ours: list[Drained], theirs: dict[str, PeerDrained], alone: dict[str, float]) -> Table:
    rows: list[tuple[object, ...]] = [
        ("sender", "waiting", "deliveries/s", *draining.CPU_HEADINGS, "lost")
    ]
    for each in ours:
        cpu = draining.cpu_columns(each.cpu_s_per_1000)
        rows.append(("parceldesk", each.size, each.deliveries_per_s, *cpu, each.books.lost))
    for name, peer in theirs.items():
        cpu = draining.cpu_columns(peer.cpu_s_per_1000)
        rows.append((name, peer.size, peer.deliveries_per_s, *cpu, peer.lost))
    rows.append(
        ("libcurl alone", "", alone["requests_per_s"], f"{alone['cpu_s_per_1000']:.3f}", "", "", "")
    )
    return rows


def figures(main: Drained, ours: list[Drained], theirs: dict[str, PeerDrained]) -> dict[str, Any]:
    """Return a summary of the main size, then all figures."""
    rates = {name: peer.deliveries_per_s for name, peer in theirs.items()}
    ratios = {name: round(main.deliveries_per_s / rate, 1) for name, rate in rates.items()}
    return {
        "deliveries_per_s": main.deliveries_per_s,
        "peer": "django-webhook",
        "peer_deliveries_per_s": rates.get("django-webhook"),
        "ratio": ratios.get("django-webhook"),
        "plain_deliveries_per_s": rates.get("plain"),
        "plain_ratio": ratios.get("plain"),
        "worker_cpu_s_per_1000": main.cpu_s_per_1000["worker"],
        "postgres_cpu_s_per_1000": main.cpu_s_per_1000["postgres"],
        "broker_cpu_s_per_1000": main.cpu_s_per_1000["broker"],
        "receiver_share": main.receiver_share,
        "lost": main.books.lost,
        "by_size": [each.row() for each in ours],
        "peers": {name: {**peer.row(), "ratio": ratios[name]} for name, peer in theirs.items()},
    }
