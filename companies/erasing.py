"""Erasing a company: what people wrote, names, addresses and files go; the skeleton stays.

Each app registers, in a module `erasable`, what it keeps of a company and how to blank it. Parts
run one after the other, in steps: a step is a short transaction that also records the progress, so
a run that was killed can be continued. All of it may be repeated at any time.
Why: decision N24.
"""

import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, TypeVar

from django.apps import apps
from django.db import OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from psycopg.errors import SerializationFailure

from companies import under_way
from companies.models import ApiToken, Company, Erasure
from companies.services import UnknownCompany

# Longer than any request of the company that was let in before it was switched off, and any batch
# of the feed.
GRACE = timedelta(minutes=2)
FETCHED = 10_000
# All in-flight deliveries of a step may end one after the other.
MOST_MOVES = 50
# Folders of apps that have a module `erasable` of their own.
ROOMS = ("upkeep", "changes", "queue")

T = TypeVar("T")
Show = Callable[[str], None]
# A batch of keys, and the position after it, as JSON.
Batch = tuple[list[Any], Any]


class Part(NamedTuple):
    """Data that is blanked together. The company's own rows are no part: they are blanked last.

    `walk` yields the keys of a company in batches, after a position (None: from the beginning).
    `blank` blanks what belongs to some keys, in the caller's transaction, and returns the number of
    rows by kind. `follow_up` then does what needs no transaction, also for an earlier run.
    """

    name: str
    walk: Callable[[int, Any], Iterator[Batch]]
    blank: Callable[[list[Any]], dict[str, int]]
    follow_up: Callable[[], object] = lambda: None


class Overtaken(RuntimeError):
    """Somebody else is erasing the same company."""


# Parts by the module that registered them.
parts_by_module: dict[str, list[Part]] = {}


def register_erasable(module: str, *parts: Part) -> None:
    parts_by_module[module] = list(parts)


def all_parts() -> list[Part]:
    """Return the parts in the order in which they run: that of the apps."""
    autodiscover_modules("erasable", *(f"{room}.erasable" for room in ROOMS))
    return in_app_order(parts_by_module)


def in_app_order(registered: Mapping[str, list[T]]) -> list[T]:
    """Return all of them in the order of the apps, however the modules were imported."""
    names = [app.name for app in apps.get_app_configs()]
    modules = sorted(registered, key=lambda module: names.index(module.partition(".")[0]))
    return [each for module in modules for each in registered[module]]


def execute_all(statements: Mapping[str, str], keys: Sequence[Any]) -> dict[str, int]:
    """Execute statements that take `keys`; return the number of rows by name."""
    counts = {}
    with connection.cursor() as cursor:
        for name, statement in statements.items():
            cursor.execute(statement, {"keys": list(keys)})
            counts[name] = cursor.rowcount
    return counts


def walk_of_ids(statement: str, step: int) -> Callable[[int, Any], Iterator[Batch]]:
    """Return a walk over the ids that a statement finds for a `company`, smallest first.

    They are read at once, through a cursor, and take eight bytes each: no index sorts them.
    """

    def walk(company_id: int, after: Any) -> Iterator[Batch]:
        ids = array("q")
        with transaction.atomic(), connection.chunked_cursor() as cursor:
            cursor.execute(statement, {"company": company_id})
            while rows := cursor.fetchmany(FETCHED):
                ids.extend(key for (key,) in rows)
        remaining = sorted(key for key in ids if key > (after or 0))
        for first in range(0, len(remaining), step):
            keys = remaining[first : first + step]
            yield keys, keys[-1]

    return walk


def count_parts(company_id: int, show: Show = lambda text: None) -> dict[str, int]:
    """Count the rows that each part starts from; blanks nothing. Raises UnknownCompany."""
    company_to_erase(company_id)
    counts: dict[str, int] = {}
    for part in all_parts():
        counts[part.name] = 0
        for keys, _ in part.walk(company_id, None):
            counts[part.name] += len(keys)
            show(f"{part.name}: {counts[part.name]}")
    return counts


def company_to_erase(company_id: int) -> Company:
    """Return a company. Raises UnknownCompany."""
    company = Company.objects.filter(pk=company_id).first()
    if company is None:
        raise UnknownCompany(f"There is no company {company_id}.")
    return company


def erase_all_of(
    company_id: int, *, show: Show = lambda text: None, sleep: Callable[[float], None] = time.sleep
) -> Erasure:
    """Erase a company, or continue its erasure. It cannot be undone.

    It is inactive from the first moment, for ever. Raises UnknownCompany, Overtaken, and errors of
    the file storage: then call it again.
    """
    erasure = begin_erasure(company_id)
    under_way.wait_for_requests(company_id, erasure.begun_at, GRACE, show, sleep)
    parts = all_parts()
    names = [part.name for part in parts]
    start = names.index(erasure.part) if erasure.part in names else 0
    for part in parts[start:]:
        if erasure.part != part.name:
            move_on(erasure, part, None, {})
        part.follow_up()
        for keys, after in part.walk(company_id, erasure.after):
            retry_moved_rows(partial(take_step, erasure, part, keys, after))
            part.follow_up()
            show(f"{part.name}: {sum(erasure.counts.values())} rows so far")
    end_erasure(erasure)
    return erasure


@transaction.atomic
def begin_erasure(company_id: int) -> Erasure:
    company = Company.objects.select_for_update(no_key=True).filter(pk=company_id).first()
    if company is None:
        raise UnknownCompany(f"There is no company {company_id}.")
    now = timezone.now()
    company.active, company.erased_at = False, company.erased_at or now
    company.save(update_fields=["active", "erased_at"])
    ApiToken.objects.filter(company=company, revoked_at=None).update(revoked_at=now)
    erasure, _ = Erasure.objects.get_or_create(
        company_id=company_id, ended_at=None, defaults={"begun_at": now}
    )
    return erasure


def retry_moved_rows(step: Callable[[], T]) -> T:
    """Run a step, again if a row moved to another partition while it waited for its lock."""
    for _ in range(MOST_MOVES):
        try:
            return step()
        except OperationalError as error:
            if not isinstance(error.__cause__, SerializationFailure):
                raise
    return step()


@transaction.atomic
def take_step(erasure: Erasure, part: Part, keys: list[Any], after: Any) -> None:
    counts = dict(erasure.counts)
    for kind, number in part.blank(keys).items():
        counts[kind] = counts.get(kind, 0) + number
    move_on(erasure, part, after, counts)


def move_on(erasure: Erasure, part: Part, after: Any, counts: dict[str, int]) -> None:
    """Record the progress. Raises Overtaken."""
    counts = counts or erasure.counts
    at = Q(after=erasure.after) if erasure.after is not None else Q(after__isnull=True)
    here = Erasure.objects.filter(at, pk=erasure.pk, part=erasure.part, ended_at=None)
    if not here.update(part=part.name, after=after, counts=counts):
        raise Overtaken(f"Somebody else is erasing company {erasure.company_id}.")
    erasure.part, erasure.after, erasure.counts = part.name, after, counts


@transaction.atomic
def end_erasure(erasure: Erasure) -> None:
    """Clear the name last: confirmation and lookups rely on it until then."""
    Company.objects.filter(pk=erasure.company_id).update(
        name=erased_name(erasure.company_id), contact_email="", plan="", active=False
    )
    erasure.ended_at = timezone.now()
    if not Erasure.objects.filter(pk=erasure.pk, ended_at=None).update(ended_at=erasure.ended_at):
        raise Overtaken(f"Somebody else has erased company {erasure.company_id}.")


def erased_name(company_id: int) -> str:
    return f"erased company {company_id}"


def erased_companies() -> list[tuple[int, datetime]]:
    """Return the ids of companies whose erasure ended, and since when each was inactive."""
    ended = Erasure.objects.exclude(ended_at=None).values_list("company_id", flat=True)
    companies = Company.objects.filter(pk__in=ended, erased_at__isnull=False).order_by("pk")
    return [(pk, at) for pk, at in companies.values_list("pk", "erased_at") if at is not None]
