"""Who did what: the audit's entries and Django's log of the desk as one list, newest first.

A page of it reads a page of each of the two, whatever they hold: both have an index by time, and
for each thing that they are asked by. Why: decision page audit-is-read-as-one-list.
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
# At one moment the desk's come after the others.
AUDIT, DESK = 0, 1
MOST_KNOWN = 1_000


class Act(NamedTuple):
    """`outcome`: None where it has not ended, or was killed. `source` and `id` name the row."""

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
class Asked:
    """Filters acts: by time, person, kind and company. `actor` may lack its host.

    `token`: the prefix of the company's token, or the beginning of that.
    """

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    act: str = ""
    company_id: int | None = None
    token: str = ""


def acts(asked: Asked, *, before: str = "", limit: int = 50) -> list[Act]:
    """The newest of them, newest first, or those behind the place of one. Raises BadCursor."""
    place = read_act_place(before) if before else None
    found: list[Act] = []
    for source, time, rows in sources(asked):
        if asked.since is not None:
            rows = rows.filter(**{f"{time}__gte": asked.since})
        if asked.until is not None:
            rows = rows.filter(**{f"{time}__lt": asked.until})
        if place is not None:
            rows = rows.filter(behind(place, source, time))
        found += map(as_act, rows.order_by(f"-{time}", "-pk")[:limit])
    return sorted(found, key=lambda one: one[:3], reverse=True)[:limit]


def sources(asked: Asked) -> list[tuple[int, str, QuerySet[Any]]]:
    return [(AUDIT, "at", entries(asked)), (DESK, "action_time", log_of_desk(asked))]


def behind(place: tuple[datetime, int, int], source: int, time: str) -> Q:
    """What of a source is older than the place: by time, then by source, then by id."""
    at, own, number = place
    if source < own:
        return Q(**{f"{time}__lte": at})
    tied = Q(**{time: at}, pk__lt=number) if source == own else Q(pk=None)
    return Q(**{f"{time}__lte": at}) & (Q(**{f"{time}__lt": at}) | tied)


def entries(asked: Asked) -> QuerySet[AuditEntry]:
    found = AuditEntry.objects.all()
    if asked.actor:
        found = found.filter(actor__in=[one for one in known("actor") if is_by(one, asked.actor)])
    if asked.act:
        found = found.filter(act=asked.act)
    if asked.company_id is not None:
        found = found.filter(company_id=asked.company_id)
    if asked.token:
        # Somebody may have pasted the whole token.
        prefix = asked.token[:PREFIX_LENGTH]
        # Through the index of its company: few companies have a token that begins so.
        tokens = ApiToken.objects.filter(prefix__startswith=prefix)
        owners = list(tokens.values_list("company_id", flat=True).distinct())
        by_api = found.filter(via=AuditEntry.Via.API, details__token__startswith=prefix)
        found = by_api.filter(company_id__in=owners)
    return found


def is_by(actor: str, asked: str) -> bool:
    return actor == asked or actor.partition("@")[0] == asked


def log_of_desk(asked: Asked) -> QuerySet[LogEntry]:
    found = LogEntry.objects.select_related("user", "content_type")
    if asked.token:
        return found.none()
    if asked.actor:
        # Looked up first: inside the statement, the planner may walk the whole log for nobody.
        user = User.objects.filter(username=asked.actor).values_list("pk", flat=True).first()
        found = found.filter(user_id=user or 0)
    if asked.act:
        flags = {verb: flag for flag, verb in VERBS.items()}
        found = found.filter(action_flag=flags.get(asked.act, 0))
    if asked.company_id is not None:
        kind = ContentType.objects.get_for_model(Company)
        found = found.filter(content_type=kind, object_id=str(asked.company_id))
    return found


def known(column: str) -> list[str]:
    """What there is in a column of the audit: `act` or `actor`."""
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
    found = PLACE.fullmatch(text)
    if found is None:
        raise BadCursor("This is not a place in the audit.")
    at = EPOCH + timedelta(microseconds=int(found[1]))
    return at, int(found[2]), int(found[3])
