"""Counts of tickets per measure: in total, and by type, carrier, agent, day and age."""

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

# Number of tickets by measure.
Counts = dict[str, int]
# Counts by dimension, then by key: a type, carrier, agent, day or age.
Groups = dict[str, dict[Any, Counts]]
DIMENSIONS = ("type_id", "carrier_name", "user_id")
# Grouping sets. Types and agents form few pairs, so they share one: each set costs a pass.
SETS = (("carrier_name",), ("type_id", "user_id"), ("day",), ("age",))
# Measures over the same tickets, which are counted in one statement.
COHORTS = (OF_OPENED, OF_DECIDED, OF_OPEN)
# Upper bounds of the age groups of open tickets, in days; one more group is beyond the last.
AGES = (1, 3, 7, 14, 28)


class Scope(NamedTuple):
    """Scope of a count: a period in days of the active time zone, and filters."""

    period: Period
    type_id: int | None = None
    carrier: str = ""
    company_id: int | None = None
    agent_id: int | None = None

    @property
    def key(self) -> str:
        """Cache key, unique for the scope and the time zone."""
        zone = timezone.get_current_timezone_name()
        carrier = self.carrier.encode().hex()
        days = f"{self.period.first}:{self.period.last}:{zone}"
        return f"{days}:{self.type_id}:{carrier}:{self.company_id}:{self.agent_id}"

    def tickets(self, slug: str) -> QuerySet[Ticket]:
        """Return the tickets of the scope that the measure's cohort consists of."""
        where = Q()
        if self.type_id:
            where &= Q(type_id=self.type_id)
        if self.carrier:
            where &= Q(carrier_name__in=spellings_of(self.carrier))
        if self.company_id:
            where &= Q(company_id=self.company_id)
        if self.agent_id and slug in OF_DECIDED:
            where &= Q(decided_by_id=Agent.objects.filter(pk=self.agent_id).values("user_id")[:1])
        elif self.agent_id:
            where &= Q(agent_id=self.agent_id)
        during = ALL_MEASURES[slug].during(self.period)
        return Ticket.objects.filter(during, where).order_by()


class Names(NamedTuple):
    """Names of users and ticket types by id; those of types are not translated."""

    users: dict[int, str]
    types: dict[int, str]


class Times(NamedTuple):
    """Number, median and 90th percentile of durations."""

    number: int = 0
    median: timedelta | None = None
    p90: timedelta | None = None


def names() -> Names:
    users = dict(User.objects.values_list("pk", "username"))
    return Names(users, {row.pk: row.name for row in TicketType.objects.all()})


def count(scope: Scope, slugs: Sequence[str], by: Sequence[str] = ()) -> tuple[Counts, Groups]:
    """Count measures in total and by the dimensions `by`, in one statement per cohort."""
    total, groups = dict.fromkeys(slugs, 0), {name: dict[Any, Counts]() for name in by}
    for cohort in COHORTS:
        wanted = [slug for slug in cohort if slug in slugs]
        for keys, first, counts in count_cohort(scope, wanted, by) if wanted else ():
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


def count_cohort(
    scope: Scope, slugs: Sequence[str], by: Sequence[str]
) -> list[tuple[dict[str, Any], bool, Counts]]:
    """Count measures of one cohort in one statement, with the same conditions as the lists.

    Returns rows of the keys by dimension, True for the first grouping set, and the counts. Each
    set counts every ticket once, so the first one's rows add up to the total.
    """
    dimensions = groups_of(slugs[0])
    sets = [[name for name in each if name in by and name in dimensions] for each in SETS]
    sets = [each for each in sets if each] or [[]]
    by = [name for each in sets for name in each]
    flags = {slug: flag(ALL_MEASURES[slug].of) for slug in slugs}
    expressions = {name: dimensions[name] for name in by if name not in ("type_id", "carrier_name")}
    inner = scope.tickets(slugs[0]).annotate(**expressions, **flags).values(*by, *flags)
    grouping_sets = ", ".join(f"({', '.join(each)})" for each in sets)
    rows = run(
        [
            *(f'grouping("{name}")' for name in by),
            *(f'"{name}"' for name in by),
            *(f'coalesce(sum("{slug}"), 0)' for slug in slugs),
        ],
        inner,
        f"GROUP BY GROUPING SETS ({grouping_sets})",
    )
    result = []
    for row in rows:
        keys = {name: row[len(by) + n] for n, name in enumerate(by) if row[n] == 0}
        numbers = map(int, row[2 * len(by) :])
        result.append((keys, [*keys] == sets[0], dict(zip(slugs, numbers, strict=True))))
    return result


def flag(of: Q) -> Any:
    return Case(When(of, then=1), default=0, output_field=IntegerField()) if of else Value(1)


def groups_of(slug: str) -> dict[str, Any]:
    """Return the dimensions by which a measure's tickets can be grouped, with expressions."""
    usual = {"type_id": F("type_id"), "carrier_name": F("carrier_name")}
    if slug in OF_DECIDED:
        # A decision counts for the user who decided, whoever has the ticket now.
        return {**usual, "user_id": F("decided_by_id"), "day": TruncDate("decided_at")}
    usual["user_id"] = F("agent__user_id")
    if slug in OF_OPEN:
        return {**usual, "age": age()}
    return {**usual, "day": TruncDate("created_at")}


def age() -> Func:
    """Return an expression for the number of AGES that a ticket is younger than."""
    begins = sorted(timezone.now() - timedelta(days=days) for days in AGES)
    thresholds = Value(begins, ArrayField(DateTimeField()))
    return Func("created_at", thresholds, function="width_bucket", output_field=IntegerField())


def times(scope: Scope, slug: str, end: str, by: str) -> dict[Any, Times]:
    """Return the times from opening to `end` by the keys of `by`; None is the key of all."""
    duration = ExpressionWrapper(F(end) - F("created_at"), DurationField())
    key = groups_of(slug)[by]
    inner = scope.tickets(slug).annotate(key=key, took=duration).values("key", "took")
    middle = "percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY took)"
    rows = run(["grouping(key)", "key", "count(took)", middle], inner, "GROUP BY ROLLUP (key)")
    return {
        None if together else key: Times(number, *(middle or (None, None)))
        for together, key, number, middle in rows
        if together or key is not None
    }


def merged(groups: Mapping[str, Counts]) -> dict[str, Counts]:
    """Merge the spellings of a carrier under its usual one."""
    usual = usual_spellings({name: sum(counts.values()) for name, counts in groups.items()})
    result: dict[str, Counts] = {}
    for spelling, counts in groups.items():
        add(result.setdefault(usual[carrier_key(spelling)], {}), counts)
    return result


def run(columns: Sequence[str], inner: QuerySet[Any, Any], rest: str) -> list[tuple[Any, ...]]:
    """Run an aggregate over a queryset; columns and the rest must be trusted SQL."""
    try:
        sql, values = inner.query.sql_with_params()
    except EmptyResultSet:  # a carrier without tickets
        return []
    return read_rows(f"SELECT {', '.join(columns)} FROM ({sql}) AS found {rest}", values)  # noqa: S608
