"""The tables of the scenarios that judge what they measure: each row ends with its verdict."""

from collections.abc import Sequence

from bench.markdown import Figures, markdown, ms, number
from bench.outcome import verdict

Rows = list[Sequence[object]]


def neighbours(figures: Figures) -> str:
    rows: Rows = [("neighbours", "alone, p99 ms", "beside, p99 ms", "at most", "arrived", "")]
    for each in figures["rows"]:
        alone, beside = each["alone"], each["beside"]
        arrived = f"{beside['arrived']} of {beside['due']}"
        times = (ms(alone["p99_ms"]), ms(beside["p99_ms"]), number(each["at_most_ms"], 1))
        rows.append((each["words"], *times, arrived, verdict(each["ok"])))
    return markdown(rows)


def latency(figures: Figures) -> str:
    rows: Rows = [
        (
            "webhooks",
            "answers after",
            "deliveries/s",
            "at least",
            "worker CPU s per 1000",
            "PostgreSQL",
            "",
        )
    ]
    for each in figures["paces"]:
        least, cpu = each["at_least_per_s"], each["cpu_s_per_1000"]
        rows.append(
            (
                number(each["webhooks"]),
                f"{each['ms']} ms",
                number(each["deliveries_per_s"]),
                number(least) if least else "",
                number(cpu["worker"], 3),
                number(cpu["postgres"], 3),
                verdict(each["ok"]) if least else "",
            )
        )
    return f"{markdown(rows)}\n\n{small_servers(figures)}"


def small_servers(figures: Figures) -> str:
    rows: Rows = [
        ("workers of a small server", "capacity/s", "answered/s", "time-outs", "p99 ms", "")
    ]
    for each in figures["small"]:
        rows.append(
            (
                each["workers"],
                number(each["capacity_per_s"]),
                number(each["answered_per_s"], 1),
                f"{100 * each['share_of_timeouts']:.1f} %",
                ms(each["p99_ms"], 0),
                verdict(each["ok"]),
            )
        )
    return markdown(rows)


def lanes(figures: Figures) -> str:
    rows: Rows = [
        (
            "webhooks that wait",
            "event of the oldest, p99 ms",
            "middle",
            "newest",
            "`oldest_due` p99 ms",
            "idle, % of a core",
            "",
        )
    ]
    for each in figures["sizes"]:
        fresh = [ms(times["p99"]) for times in each["fresh_ms"].values()]
        idle_percent = 100 * sum(each["idle_share"].values())
        due = ms(each["oldest_due_ms"]["p99"], 2)
        webhooks = number(each["webhooks"])
        rows.append((webhooks, *fresh, due, number(idle_percent, 1), verdict(each["ok"])))
    return markdown(rows)


def start(figures: Figures) -> str:
    return markdown(
        [
            ("starts", "median s", "longest s", "worker CPU s", "Django alone s", ""),
            (
                figures["starts"],
                number(figures["median_s"], 2),
                number(figures["longest_s"], 2),
                number(figures["cpu_s"], 2),
                number(figures["django_s"], 2),
                verdict(figures["ok"]),
            ),
        ]
    )


def idle(figures: Figures) -> str:
    parts = ("objects", "libraries", "other")
    rows: Rows = [("", "processes", "PSS MB", *parts, "% of a core")]
    for kind, percent in figures["percent"].items():
        found = figures["memory"].get(kind)
        cells: Sequence[object] = [""] * (2 + len(parts))
        if found:
            megabytes = [number(found["parts_mb"].get(part, 0)) for part in parts]
            cells = [found["processes"], number(found["pss_mb"]), *megabytes]
        rows.append((kind, *cells, number(percent, 2)))
    total = [number(figures["pss_mb"]), *("" for _ in parts)]
    rows.append(("all", "", *total, number(figures["percent_of_a_core"], 2)))
    rate = number(figures["transactions_per_s"], 1)
    return f"{markdown(rows)}\n\n{rate} transactions a second: {verdict(figures['ok'])}."


def api(figures: Figures) -> str:
    head = ("CPU s per 1000", "web", "PostgreSQL", "plain: web", "PostgreSQL", "times", "at most")
    rows: Rows = [(*head, "")]
    for each in figures["pairs"]:
        cpu = [number(cost, 2) for side in ("ours", "plain") for cost in parts_of(each, side)]
        limits = (number(each["ratio"], 2), number(each["at_most"], 1), verdict(each["ok"]))
        rows.append((each["words"], *cpu, *limits))
    return f"{markdown(rows)}\n\n{crowds(figures)}"


def parts_of(each: Figures, side: str) -> list[float]:
    return list(each["cpu_s_per_1000"][side].values())


def crowds(figures: Figures) -> str:
    rows: Rows = [
        ("web processes", "tickets/s", "p50 ms", "p99 ms", "web CPU s per 1000", "PostgreSQL")
    ]
    for each in figures["storms"]:
        cpu = [number(cost, 2) for cost in each["cpu_s_per_1000"].values()]
        times = [ms(each["ms"][name]) for name in ("p50", "p99")]
        rows.append((each["processes"], number(each["tickets_per_s"]), *times, *cpu))
    return f"{figures['clients']} clients, each with its next ticket at once:\n\n{markdown(rows)}"
