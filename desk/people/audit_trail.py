"""Audit log and Django's log of the desk merged into one list, newest first.

A page reads one page of each source, however large they are: both have an index by time and
for each filter. Why: decision page audit-is-read-as-one-list.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet

from companies.models import ApiToken, AuditEntry, Company
from companies.tokens import PREFIX_LENGTH
from core.api.sealed_cursors import EPOCH
from core.data.statements import distinct_values, read_rows
from deliveries.monitoring.log import BadCursor

PLACE = re.compile(r"([0-9]{1,17})-([01])-([0-9]{1,18})", re.ASCII)
VERBS = {ADDITION: "add", CHANGE: "change", DELETION: "delete"}
# Order at equal times: entries of the desk's log come after those of the audit log.
AUDIT, DESK = 0, 1
MOST_KNOWN = 1_000


class Act(NamedTuple):
    """Entry of either log, keyed by `source` and `id`; `outcome` is None if running or killed."""

    at: datetime
    source: int
    id: int
    actor: str
    via: str
    act: str
    about: str
    company_id: int | None
    details: dict[str, Any]
    outcome: str | None
    request_id: str | None


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """Filters by time, actor, act and company. `actor` may be given without its host.

    `token` is the prefix of a company's token, or the beginning of the prefix.
    """

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    act: str = ""
    company_id: int | None = None
    token: str = ""


def acts(filters: AuditFilters, *, before: str = "", limit: int = 50) -> list[Act]:
    """Return entries, newest first, from the cursor `before` on. Raises BadCursor."""
    place = read_act_place(before) if before else None
    merged: list[Act] = []
    for source, time, rows in sources(filters):
        if filters.since is not None:
            rows = rows.filter(**{f"{time}__gte": filters.since})
        if filters.until is not None:
            rows = rows.filter(**{f"{time}__lt": filters.until})
        if place is not None:
            rows = rows.filter(older_than(place, source, time))
        merged += map(as_act, rows.order_by(f"-{time}", "-pk")[:limit])
    return sorted(merged, key=lambda one: one[:3], reverse=True)[:limit]


def sources(filters: AuditFilters) -> list[tuple[int, str, QuerySet[Any]]]:
    return [(AUDIT, "at", entries(filters)), (DESK, "action_time", log_of_desk(filters))]


def older_than(place: tuple[datetime, int, int], source: int, time: str) -> Q:
    """Return the condition for rows older than a cursor: by time, then source, then id."""
    at, own, number = place
    if source < own:
        return Q(**{f"{time}__lte": at})
    tied = Q(**{time: at}, pk__lt=number) if source == own else Q(pk=None)
    return Q(**{f"{time}__lte": at}) & (Q(**{f"{time}__lt": at}) | tied)


def entries(filters: AuditFilters) -> QuerySet[AuditEntry]:
    rows = AuditEntry.objects.all()
    if filters.actor:
        rows = rows.filter(
            actor__in=[one for one in known_values("actor") if is_by(one, filters.actor)]
        )
    if filters.act:
        rows = rows.filter(act=filters.act)
    if filters.company_id is not None:
        rows = rows.filter(company_id=filters.company_id)
    if filters.token:
        # Users may paste the whole token.
        prefix = filters.token[:PREFIX_LENGTH]
        # Filter by company, whose index is used: few companies have a token with this prefix.
        tokens = ApiToken.objects.filter(prefix__startswith=prefix)
        owners = list(tokens.values_list("company_id", flat=True).distinct())
        by_api = rows.filter(via=AuditEntry.Via.API, details__token__startswith=prefix)
        rows = by_api.filter(company_id__in=owners)
    return rows


def is_by(actor: str, name: str) -> bool:
    return actor == name or actor.partition("@")[0] == name


def log_of_desk(filters: AuditFilters) -> QuerySet[LogEntry]:
    rows = LogEntry.objects.select_related("user", "content_type")
    if filters.token:
        return rows.none()
    if filters.actor:
        # In a subquery the planner may scan the whole log for a user who does not exist.
        user = User.objects.filter(username=filters.actor).values_list("pk", flat=True).first()
        rows = rows.filter(user_id=user or 0)
    if filters.act:
        flags = {verb: flag for flag, verb in VERBS.items()}
        rows = rows.filter(action_flag=flags.get(filters.act, 0))
    if filters.company_id is not None:
        kind = ContentType.objects.get_for_model(Company)
        rows = rows.filter(content_type=kind, object_id=str(filters.company_id))
    return rows


def known_values(column: str) -> list[str]:
    """Return the distinct values of a column of the audit log: `act` or `actor`."""
    values = distinct_values("companies_auditentry", column)
    return [value for (value,) in read_rows(f"{values} LIMIT {MOST_KNOWN}")]


def as_act(row: AuditEntry | LogEntry) -> Act:
    if isinstance(row, AuditEntry):
        return Act(
            row.at,
            AUDIT,
            row.pk,
            row.actor,
            row.via,
            row.act,
            row.about,
            row.company_id,
            row.details,
            row.outcome,
            row.request_id,
        )
    kind = row.content_type.name if row.content_type else ""
    of_company = row.content_type is not None and row.content_type.model_class() is Company
    return Act(
        row.action_time,
        DESK,
        row.pk,
        row.user.get_username(),
        AuditEntry.Via.DESK,
        VERBS.get(row.action_flag, "change"),
        f"{kind} {row.object_id or ''}: {row.object_repr}",
        int(row.object_id) if of_company and row.object_id else None,
        {},
        row.get_change_message(),
        None,
    )


def act_place(one: Act) -> str:
    microseconds = (one.at - EPOCH) // timedelta(microseconds=1)
    return f"{microseconds}-{one.source}-{one.id}"


def read_act_place(text: str) -> tuple[datetime, int, int]:
    match = PLACE.fullmatch(text)
    if match is None:
        raise BadCursor("This is not a place in the audit.")
    at = EPOCH + timedelta(microseconds=int(match[1]))
    return at, int(match[2]), int(match[3])
