"""What several workers do, and what so many deliveries a day need, as tables."""

import math
from collections.abc import Sequence

from bench.markdown import Figures, markdown, number

DAYS_KEPT = 30
# The busiest minutes of a day against its mean.
PEAK = 3
# Of what a loop delivers at most: the rest is for catching up, and for slow receivers.
FULL = 0.5
A_DAY = 86_400
MILLIONS = (1, 10, 100)
# So that the loss of one is no standstill.
LEAST_LOOPS = 2


def workers(figures: Figures) -> str:
    rows: list[Sequence[object]] = [
        (
            "workers",
            "loops together",
            "deliveries/s",
            "workers' CPU s per 1000",
            "PostgreSQL",
            "connections",
            "part of each",
        )
    ]
    for each in figures["teams"]:
        cpu = each["cpu_s_per_1000"]
        rows.append(
            (
                each["workers"],
                each["loops"],
                number(each["deliveries_per_s"]),
                number(cpu["worker"], 3),
                number(cpu["postgres"], 3),
                each["connections"],
                ", ".join(f"{part:.0%}" for part in each["parts"]),
            )
        )
    changing = figures["changing"]
    return (
        f"{markdown(rows)}\n\nWhile a worker joined and another left,"
        f" {number(changing['delivered'])} of {number(changing['published'])} events were"
        f" delivered, with {changing['repeats']} repeats and {changing['lost']} lost."
    )


def needs(figures: Figures) -> str:
    """Everything that follows from the measured figures and the constants above."""
    alone, last = figures["teams"][0], figures["teams"][-1]
    cpu, size = last["cpu_s_per_1000"], alone["bytes"]
    each_loop = alone["deliveries_per_s"] * FULL
    own = math.ceil(last["connections"] / last["workers"])
    columns = []
    for millions in MILLIONS:
        mean = millions * 1e6 / A_DAY
        peak = mean * PEAK
        loops = max(LEAST_LOOPS, math.ceil(peak / each_loop))
        columns.append(
            (
                f"{millions} million a day",
                number(mean),
                number(peak),
                loops,
                number(peak * cpu["worker"] / 1000, 2),
                number(peak * cpu["postgres"] / 1000, 2),
                loops * own,
                gigabytes(millions * size["wal"]),
                gigabytes(millions * size["disk"] * DAYS_KEPT),
            )
        )
    names = (
        "",
        "deliveries/s, mean",
        f"deliveries/s, peak ({PEAK} times the mean)",
        f"loops, a worker each, {FULL:.0%} busy at the peak",
        "cores of the workers at the peak",
        "cores of PostgreSQL at the peak",
        "connections of the workers",
        "WAL a day, GB",
        f"on disk after {DAYS_KEPT} days, GB",
    )
    return markdown([list(row) for row in zip(names, *columns, strict=True)])


def gigabytes(megabytes: float) -> str:
    return number(megabytes / 1000, 1)


def erase(figures: Figures) -> str:
    alone, beside, wear = figures["alone_ms"], figures["beside_ms"], figures["database"]
    rows: list[Sequence[object]] = [
        (f"others, at {number(figures['rate'])} events/s, ms", "p50", "p99", "max"),
    ]
    for words, part in (("alone", alone), ("while it is erased", beside)):
        for what, key in (("an event's commit", "commit"), ("commit to receiver", "receiver")):
            times = (number(part[key][name], 1) for name in ("p50", "p99", "max"))
            rows.append((f"{what}, {words}", *times))
    return (
        f"{number(figures['deliveries'])} deliveries in {number(figures['seconds'])} s:"
        f" {number(figures['rows_per_s'])} rows a second. The longest that anybody waited for a"
        f" lock was {number(figures['longest_lock_ms'])} ms, at most"
        f" {number(figures['at_most_ms'])}. It wrote {number(wear['wal_mb'])} MB of WAL and left"
        f" {number(wear['dead_rows'])} dead rows; the database grew from"
        f" {number(wear['mb_before'])} to {number(wear['mb_after'])} MB. A search of every table"
        f" for the company's word found it {number(figures['words_before'])} times before, and"
        f" {number(figures['words_after'])} times afterwards.\n\n{markdown(rows)}"
    )
