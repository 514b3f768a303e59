"""Each scenario's figures as the table of docs/performance.md."""

from collections.abc import Callable, Sequence

from bench.growing_sections import erase, needs, workers
from bench.hour_sections import hour, snapshot
from bench.judged_sections import api, idle, lanes, latency, neighbours, start
from bench.markdown import Figures, markdown, number


def drain(figures: Figures) -> str:
    rows: list[Sequence[object]] = [
        (
            "sender",
            "waiting",
            "deliveries/s",
            "worker CPU s per 1000",
            "PostgreSQL",
            "ours is faster",
        )
    ]
    for each in figures["by_size"]:
        rows.append(("parceldesk", *drained(each), ""))
    for name, each in figures["peers"].items():
        rows.append((WORDS[name], *drained(each), f"{number(each['ratio'])} times"))
    alone = figures["libcurl_alone"]
    cpu = number(alone["cpu_s_per_1000"], 3)
    rows.append(("libcurl alone, one process", "", number(alone["requests_per_s"]), cpu, "", ""))
    return markdown(rows)


WORDS = {
    "django-webhook": "django-webhook 0.0.15",
    "django-webhook-kept": "django-webhook, database connection kept",
    "plain": "a Celery task per delivery, requests, ORM",
    "plain-kept": "the same, database connection kept",
}


def drained(each: Figures) -> tuple[str, str, str, str]:
    cpu = each["cpu_s_per_1000"]
    return (
        number(each["size"]),
        number(each["deliveries_per_s"]),
        number(cpu["worker"], 3),
        number(cpu["postgres"], 3),
    )


def live(figures: Figures) -> str:
    names = ("p50", "p95", "p99", "max")
    rows: list[Sequence[object]] = [(f"{number(figures['events_per_s'])} events/s, ms", *names)]
    for words, key in (
        ("from the scheduled time to the receiver", "from_schedule_ms"),
        ("from the commit to the receiver", "from_commit_ms"),
    ):
        rows.append((words, *(number(figures[key][name], 1) for name in names)))
    return markdown(rows)


def isolation(figures: Figures) -> str:
    rows: list[Sequence[object]] = [
        (
            "events/s",
            "silent receivers",
            "healthy deliveries",
            "p50 ms",
            "p99 ms",
            "p99 with / without",
        )
    ]
    for each in figures["rates"]:
        for words, key, ratio in (("none", "without", ""), ("some", "with", each["p99_ratio"])):
            done = each[key]
            ms = [number(done["healthy_ms"][name], 1) for name in ("p50", "p99")]
            rate = number(each["events_per_s"])
            rows.append((rate, words, number(done["delivered"]), *ms, ratio))
    return markdown(rows)


def claim(figures: Figures) -> str:
    times = ("lanes p50 ms", "claim p50 ms", "both p99 ms", "record p99 ms")
    rows: list[Sequence[object]] = [("queue", "planned for as", "claimed at once", *times)]
    for each in figures["queues"]:
        rows.append(
            (
                each["queue"],
                BELIEFS[each["believed"]],
                number(each["deliveries_per_claim"]),
                number(each["lanes_ms"]["p50"], 1),
                number(each["claim_ms"]["p50"], 1),
                number(each["both_ms"]["p99"], 1),
                number(each["record_ms"]["p99"], 1),
            )
        )
    return markdown(rows)


BELIEFS = {"nothing": "unknown", "empty": "empty", "the truth": "it is"}


def tls(figures: Figures) -> str:
    return markdown(
        [
            ("webhooks", "hosts", "waiting", "deliveries/s", "worker CPU s per 1000", "PostgreSQL"),
            (number(figures["webhooks"]), number(figures["hosts"]), *drained(figures)),
        ]
    )


def growth(figures: Figures) -> str:
    sizes = [f"{number(figures[key])} rows" for key in ("small", "rows")]
    rows: list[Sequence[object]] = [("p50, ms", *sizes, "ratio")]
    for each in figures["questions"]:
        times = [number(each[key]["p50"], 1) for key in ("small_ms", "large_ms")]
        rows.append((each["question"], *times, each["ratio"]))
    return markdown(rows)


def desk(figures: Figures) -> str:
    rows: list[Sequence[object]] = [("page", "p50 ms", "p95 ms", "of it database", "queries", "KB")]
    for each in figures["pages"]:
        times = [number(each["ms"][name], 1) for name in ("p50", "p95")]
        database = number(each["database_ms"], 1)
        rows.append((each["page"], *times, database, each["queries"], each["kilobytes"]))
    return markdown(rows)


def desks(figures: Figures) -> str:
    rows: list[Sequence[object]] = [
        ("way", "seen, p50 ms", "p95 ms", "quiet, % of a core: web", "PostgreSQL", "busy: web")
    ]
    for each in figures["ways"]:
        times = [number(each["seen_ms"].get(name, 0)) for name in ("p50", "p95")]
        still, busy = each["quiet_percent"], each["busy_percent"]
        web = still["web"] + still.get("stream", 0.0)
        shares = [number(share, 1) for share in (web, still["postgres"], busy["web"])]
        rows.append((each["way"], *times, *shares))
    return markdown(rows)


SECTIONS: dict[str, Callable[[Figures], str]] = {
    "drain": drain,
    "live": live,
    "isolation": isolation,
    "claim": claim,
    "tls": tls,
    "growth": growth,
    "desk": desk,
    "desks": desks,
    "neighbours": neighbours,
    "latency": latency,
    "lanes": lanes,
    "start": start,
    "idle": idle,
    "api": api,
    "workers": workers,
    "needs": needs,
    "erase": erase,
    "hour": hour,
    "snapshot": snapshot,
}
