"""Tables of loads that last: a long time with all its troubles, and an open transaction."""

import math
from collections.abc import Sequence
from statistics import median

from bench.markdown import Figures, markdown, ms, number
from bench.outcome import verdict

Rows = list[Sequence[object]]
TIMES = {"p50_ms": "p50", "p99_ms": "p99", "p999_ms": "p99.9"}
COMPARED = {
    "arrived": "arrived",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "p999_ms": "p99.9 ms",
    "worker_cpu_s": "workers, CPU s",
    "postgres_cpu_s": "PostgreSQL, CPU s",
}


def hour(figures: Figures) -> str:
    minutes = figures["minutes"]
    head = ("from commit to receiver, ms", "median minute", "worst minute", "at most", "")
    rows: Rows = [head]
    for key, words in TIMES.items():
        times = [each[key] for each in minutes]
        judged = key == "p999_ms"
        worst = None if None in times else max(times)
        limit = number(figures["longest_ms"]) if judged else ""
        holds = worst is not None and worst <= figures["longest_ms"]
        word = verdict(holds) if judged else ""
        rows.append((words, ms(middle(times)), ms(worst), limit, word))
    return f"{markdown(rows)}\n\n{counts(figures)}\n\n{uses(figures)}"


def middle(times: Sequence[float | None]) -> float | None:
    """The median, in which what never came is longer than all others."""
    found = median(math.inf if each is None else each for each in times)
    return None if found == math.inf else found


def counts(figures: Figures) -> str:
    minutes = figures["minutes"]
    apart = sum(each["apart"] for each in minutes)
    times = [each["apart_longest_ms"] for each in minutes]
    longest = ms(None if None in times else max(times), 0)
    return (
        f"{number(figures['events_per_s'])} events/s: {number(figures['published'])} published,"
        f" {number(figures['received'])} arrived, {number(figures['repeats'])} of them again."
        f" {number(apart)} were under way in the seconds of the kill; the longest of them took"
        f" {longest} ms. All goals: {verdict(figures['ok'])}."
    )


def uses(figures: Figures) -> str:
    """Tell the use of a minute, and memory at the beginning and at the end."""
    minutes = figures["minutes"]
    cpu = [number(median(each[f"{name}_cpu_s"] for each in minutes), 1) for name in NAMES]
    memory = [
        f"{words} {number(before)} and {number(after)} MB"
        for words, (before, after) in figures["memory_mb"].items()
    ]
    wal = number(median(each["wal_mb"] for each in minutes))
    dead = number(max(each["dead_rows"] for each in minutes))
    return (
        f"In the median minute the workers used {cpu[0]} CPU seconds and PostgreSQL {cpu[1]}, with"
        f" {wal} MB of WAL. Memory at the beginning and at the end: {', '.join(memory)}. At most"
        f" {dead} rows were dead and not cleared away."
    )


NAMES = ("worker", "postgres")


def snapshot(figures: Figures) -> str:
    rows: Rows = [("the median minute", "quiet", "transaction open", "ratio", "")]
    for each in figures["compared"]:
        digits = 0 if each["what"] == "arrived" else 1
        cells = [ms(each[part], digits) for part in ("quiet", "beside")]
        ratio = "" if each["ratio"] is None else number(each["ratio"], 2)
        word = verdict(each["ok"]) if each["judged"] else ""
        rows.append((COMPARED[each["what"]], *cells, ratio, word))
    dead = number(max(each["dead_rows"] for each in figures["minutes"]))
    said = (
        f"{number(figures['events_per_s'])} events/s, {figures['batch']} in each commit:"
        f" {number(figures['published'])} published, {number(figures['received'])} arrived."
        f" At most {dead} rows were dead and not cleared away."
    )
    return f"{markdown(rows)}\n\n{said}"
