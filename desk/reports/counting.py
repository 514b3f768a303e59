"""Counts tickets by their measures: of all, and of each type, carrier, agent, day and age."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import EmptyResultSet
from django.db.models import (
    Case,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Func,
    IntegerField,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import TruncDate
from django.utils import timezone

from core.data.statements import read_rows
from desk.reports.measures import ALL_MEASURES, OF_DECIDED, OF_OPEN, OF_OPENED, Period
from shipments.carriers import carrier_key, usual_spellings
from tickets.models import Agent, Ticket, TicketType
from tickets.models.carriers import spellings_of

# Of a carrier, type or agent, or of all: how many tickets of each measure.
Counts = dict[str, int]
# By the name of what tickets are grouped by, then by type, carrier, agent, day or age.
Groups = dict[str, dict[Any, Counts]]
DIMENSIONS = ("type_id", "carrier_name", "user_id")
# What is grouped by together: types and agents have few pairs, and a set less is a pass less.
SETS = (("carrier_name",), ("type_id", "user_id"), ("day",), ("age",))
# Measures of the same tickets: each is counted in one statement.
COHORTS = (OF_OPENED, OF_DECIDED, OF_OPEN)
# Ages of what is open, in days: up to, and beyond the last.
AGES = (1, 3, 7, 14, 28)


class Narrowed(NamedTuple):
    """Which tickets are counted. Days are those of the zone that is active."""

    period: Period
    type_id: int | None = None
    carrier: str = ""
    company_id: int | None = None
    agent_id: int | None = None

    @property
    def key(self) -> str:
        """For what is kept: the same for nothing else."""
        zone, carrier = timezone.get_current_timezone_name(), self.carrier.encode().hex()
        days = f"{self.period.first}:{self.period.last}:{zone}"
        return f"{days}:{self.type_id}:{carrier}:{self.company_id}:{self.agent_id}"

    def tickets(self, slug: str) -> QuerySet[Ticket]:
        """All that may count for this measure."""
        found = Q()
        if self.type_id:
            found &= Q(type_id=self.type_id)
        if self.carrier:
            found &= Q(carrier_name__in=spellings_of(self.carrier))
        if self.company_id:
            found &= Q(company_id=self.company_id)
        if self.agent_id and slug in OF_DECIDED:
            found &= Q(decided_by_id=Agent.objects.filter(pk=self.agent_id).values("user_id")[:1])
        elif self.agent_id:
            found &= Q(agent_id=self.agent_id)
        during = ALL_MEASURES[slug].during(self.period)
        return Ticket.objects.filter(during, found).order_by()


class Names(NamedTuple):
    """What users and types are called, as the code knows the types."""

    users: dict[int, str]
    types: dict[int, str]


class Times(NamedTuple):
    """Of the time that something took: how many, the middle one, what nine of ten stay below."""

    number: int = 0
    median: timedelta | None = None
    p90: timedelta | None = None


def names() -> Names:
    users = dict(User.objects.values_list("pk", "username"))
    return Names(users, {one.pk: one.name for one in TicketType.objects.all()})


def count(asked: Narrowed, slugs: Sequence[str], by: Sequence[str] = ()) -> tuple[Counts, Groups]:
    """Count these measures, of all and by each of `by`: a statement for each cohort."""
    total, groups = dict.fromkeys(slugs, 0), {name: dict[Any, Counts]() for name in by}
    for cohort in COHORTS:
        wanted = [slug for slug in cohort if slug in slugs]
        for keys, first, counts in counted(asked, wanted, by) if wanted else ():
            for name, key in keys.items():
                add(groups[name].setdefault(key, {}), counts)
            if first:
                add(total, counts)
    if "carrier_name" in groups:
        groups["carrier_name"] = merged(groups["carrier_name"])
    return total, groups


def add(to: Counts, counts: Mapping[str, int]) -> None:
    for slug, number in counts.items():
        to[slug] = to.get(slug, 0) + number


def counted(
    asked: Narrowed, slugs: Sequence[str], by: Sequence[str]
) -> list[tuple[dict[str, Any], bool, Counts]]:
    """In one statement, whose conditions are those of the lists: of what, and how many.

    Each ticket is counted once in every set of groups: True are the rows of the first.
    """
    known = groups_of(slugs[0])
    sets = [[name for name in each if name in by and name in known] for each in SETS]
    sets = [each for each in sets if each] or [[]]
    by = [name for each in sets for name in each]
    flags = {slug: flag(ALL_MEASURES[slug].of) for slug in slugs}
    made = {name: known[name] for name in by if name not in ("type_id", "carrier_name")}
    inner = asked.tickets(slugs[0]).annotate(**made, **flags).values(*by, *flags)
    written = ", ".join(f"({', '.join(each)})" for each in sets)
    rows = run(
        [
            *(f'grouping("{name}")' for name in by),
            *(f'"{name}"' for name in by),
            *(f'coalesce(sum("{slug}"), 0)' for slug in slugs),
        ],
        inner,
        f"GROUP BY GROUPING SETS ({written})",
    )
    found = []
    for row in rows:
        keys = {name: row[len(by) + n] for n, name in enumerate(by) if row[n] == 0}
        numbers = map(int, row[2 * len(by) :])
        found.append((keys, [*keys] == sets[0], dict(zip(slugs, numbers, strict=True))))
    return found


def flag(of: Q) -> Any:
    return Case(When(of, then=1), default=0, output_field=IntegerField()) if of else Value(1)


def groups_of(slug: str) -> dict[str, Any]:
    """What the tickets of a measure can be grouped by."""
    usual = {"type_id": F("type_id"), "carrier_name": F("carrier_name")}
    if slug in OF_DECIDED:
        # A decision is of who decided, whoever holds the ticket now.
        return {**usual, "user_id": F("decided_by_id"), "day": TruncDate("decided_at")}
    usual["user_id"] = F("agent__user_id")
    if slug in OF_OPEN:
        return {**usual, "age": age()}
    return {**usual, "day": TruncDate("created_at")}


def age() -> Func:
    """How many of AGES a ticket is younger than."""
    begins = sorted(timezone.now() - timedelta(days=days) for days in AGES)
    thresholds = Value(begins, ArrayField(DateTimeField()))
    return Func("created_at", thresholds, function="width_bucket", output_field=IntegerField())


def times(asked: Narrowed, slug: str, end: str, by: str) -> dict[Any, Times]:
    """From opening to `end`, of the tickets of a measure; None is all together."""
    took = ExpressionWrapper(F(end) - F("created_at"), DurationField())
    key = groups_of(slug)[by]
    inner = asked.tickets(slug).annotate(key=key, took=took).values("key", "took")
    middle = "percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY took)"
    rows = run(["grouping(key)", "key", "count(took)", middle], inner, "GROUP BY ROLLUP (key)")
    return {
        None if together else key: Times(number, *(middle or (None, None)))
        for together, key, number, middle in rows
        if together or key is not None
    }


def merged(groups: Mapping[str, Counts]) -> dict[str, Counts]:
    """Each carrier once, in its usual spelling."""
    usual = usual_spellings({name: sum(counts.values()) for name, counts in groups.items()})
    found: dict[str, Counts] = {}
    for spelling, counts in groups.items():
        add(found.setdefault(usual[carrier_key(spelling)], {}), counts)
    return found


def run(columns: Sequence[str], inner: QuerySet[Any, Any], rest: str) -> list[tuple[Any, ...]]:
    """Rows of a statement over tickets that a list's conditions find; the columns are our own."""
    try:
        sql, values = inner.query.sql_with_params()
    except EmptyResultSet:  # of a carrier that nobody has
        return []
    return read_rows(f"SELECT {', '.join(columns)} FROM ({sql}) AS found {rest}", values)  # noqa: S608
