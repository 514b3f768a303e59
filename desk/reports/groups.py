"""The figures of each type, agent and carrier, put together."""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from desk.reports.figures import Triple
from shipments.carriers import carrier_key, usual_spellings

# (decided, accepted, late) or (open, overdue, filing near), as figures has them.
NOTHING = (0, 0, 0)

K = TypeVar("K")


class GroupCounts(NamedTuple):
    """The tickets of one type, agent or carrier, in the order of the columns."""

    opened: int
    decided: int
    accepted: int
    late: int
    open: int
    overdue: int
    filing_near: int


NO_TICKETS = GroupCounts(0, 0, 0, 0, 0, 0, 0)


def combined(
    opened: Mapping[K, int], decided: Mapping[K, Triple], open_now: Mapping[K, Triple]
) -> dict[K, GroupCounts]:
    """What each has of all three, nothing where it has none."""
    return {
        key: GroupCounts(
            opened.get(key, 0), *decided.get(key, NOTHING), *open_now.get(key, NOTHING)
        )
        for key in {**opened, **decided, **open_now}
    }


def merge_spellings(by_name: Mapping[str, GroupCounts]) -> dict[str, GroupCounts]:
    """Each carrier once, in its usual spelling."""
    names = usual_spellings({name: sum(counts) for name, counts in by_name.items()})
    found: dict[str, GroupCounts] = {}
    for spelling, counts in by_name.items():
        name = names[carrier_key(spelling)]
        found[name] = GroupCounts(*map(sum, zip(found.get(name, NO_TICKETS), counts, strict=True)))
    return found
