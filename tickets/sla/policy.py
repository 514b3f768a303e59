"""SLA targets and filing rules, loaded from their tables and cached."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from hashlib import blake2b

from shipments.carriers import carrier_key
from tickets.models import Calendar, FilingRule, SLATarget
from tickets.sla import calendars
from tickets.sla.clocks import Filing, Promise

logger = logging.getLogger(__name__)

# Reading the tables for each new ticket would take more statements than the ticket itself.
CACHE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class SLARules:
    """All SLA targets and filing rules by their keys."""

    promises: Mapping[tuple[str, int | None], Promise]
    filing: Mapping[tuple[str, int], Filing]
    # By plan; "" is for plans without a target of their own.
    digests: Mapping[str, int]

    def promise(self, plan: str, type_id: int) -> Promise | None:
        """Return the most specific target: by plan and type, then plan, then type, then neither."""
        for key in ((plan, type_id), (plan, None), ("", type_id), ("", None)):
            if promise := self.promises.get(key):
                return promise
        return None

    def filing_of(self, carrier_name: str, type_id: int) -> Filing | None:
        """Return the carrier's own rule for this type, or that for any carrier."""
        own = self.filing.get((carrier_key(carrier_name), type_id))
        return own or self.filing.get(("", type_id))

    def digest(self, plan: str) -> int:
        """Return the digest of all rules that affect the clocks of a plan."""
        return self.digests.get(plan, self.digests[""])


def current_rules() -> SLARules:
    """Return rules at most ten seconds old; `recalculate_stale` repairs what a ticket misses."""
    return cached_rules(int(time.monotonic() // CACHE_SECONDS))


@lru_cache(maxsize=1)
def cached_rules(span: int) -> SLARules:
    return load_rules()


def clear_cached_rules() -> None:
    cached_rules.cache_clear()


def load_rules() -> SLARules:
    """Load the rules from their tables."""
    usable = read_calendars()
    promises: dict[tuple[str, int | None], Promise] = {
        (plan, type_id): Promise(
            usable[calendar], timedelta(minutes=first), timedelta(minutes=resolution)
        )
        for plan, type_id, calendar, first, resolution in SLATarget.objects.order_by().values_list(
            "plan", "type", "calendar", "first_response_minutes", "resolution_minutes"
        )
        if calendar in usable
    }
    filing = {
        (carrier_key(carrier_name), type_id): Filing(days, from_delivery)
        for carrier_name, type_id, days, from_delivery in FilingRule.objects.order_by(
            "pk"
        ).values_list("carrier_name", "type", "days", "counts_from_delivery")
    }
    text = rules_as_text(promises, filing)
    plans = {"", *(plan for plan, _ in promises)}
    return SLARules(promises, filing, {plan: rules_digest(f"{plan} {text}") for plan in plans})


def read_calendars() -> dict[int, calendars.BusinessHours]:
    usable = {}
    for row in Calendar.objects.order_by().prefetch_related("hours", "holidays"):
        try:
            usable[row.pk] = read_calendar(row)
        except calendars.BadCalendar as error:
            # Tickets can still be opened; they have no due dates until the calendar is corrected.
            logger.warning("ignoring the invalid calendar %s: %s", row, error)
    return usable


def read_calendar(row: Calendar) -> calendars.BusinessHours:
    """Convert a row to a calendar. Raises BadCalendar."""
    return calendars.BusinessHours(
        row.time_zone,
        tuple(calendars.Hours(one.weekday, one.starts, one.ends) for one in row.hours.all()),
        frozenset(holiday.day for holiday in row.holidays.all()),
    )


def rules_as_text(
    promises: Mapping[tuple[str, int | None], Promise], filing: Mapping[tuple[str, int], Filing]
) -> str:
    """Serialize the rules identically in all processes, in which sets may differ in order."""
    lines = [
        (
            str(key),
            promise.calendar.time_zone,
            str(sorted(promise.calendar.hours)),
            str(sorted(promise.calendar.holidays)),
            str(promise.first_response),
            str(promise.resolution),
        )
        for key, promise in promises.items()
    ]
    return f"{sorted(lines)} {sorted(filing.items())}"


def rules_digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), signed=True)
