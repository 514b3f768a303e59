"""Statuses in sentences: for messages, the help of commands and the API's description. Pure."""

from collections.abc import Iterable

from tickets.statuses import TERMINAL, Status


def listed(statuses: Iterable[Status]) -> str:
    """With their ids: `1 Pending, 5 Follow up`."""
    return ", ".join(f"{status:d} {status.label}" for status in sorted(statuses))


def labels(statuses: Iterable[Status]) -> list[str]:
    """By id, terminal statuses last."""
    return [one.label for one in sorted(statuses, key=lambda one: (one in TERMINAL, one))]


def joined(words: Iterable[object], last: str) -> str:
    """At least one word: `1, 5 or 10` where `last` is `or`."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end
