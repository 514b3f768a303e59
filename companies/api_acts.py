"""Audit log of companies' acts, by API and on their page, that operators must be able to trace.

Changes of webhooks, and deliveries sent again. Acts on a ticket are in its history, and
the access log has the token of every request. Why: decision page audit-is-written-before-the-act.
"""

import re
from contextvars import ContextVar
from typing import NamedTuple

from django.utils import timezone

from companies import audit
from companies.models import AuditEntry
from core.watch import request_ids

# The actor of an entry. Its token is in the details: there may be thousands of tokens.
COMPANY = "company"
# An id that the caller chose may hold a text of the company, and entries outlive an erasure.
OURS = re.compile(r"[0-9a-f]{32}")


class Caller(NamedTuple):
    """Company whose request is at work; `details` tell its entries apart from others'."""

    company_id: int
    # Prefix of the token, also of the one that asked for a session of the page.
    details: dict[str, str | int]


caller_at_work: ContextVar[Caller | None] = ContextVar("caller", default=None)


def record_api_act(act: str, about: str, **details: str | int) -> None:
    """Record an act of the company of the request at work, in the caller's transaction.

    Does nothing without a company's request: desk and commands record their own acts.
    `details` must hold no text of the company.
    """
    caller = caller_at_work.get()
    if caller is None:
        return
    request_id = request_ids.current() or ""
    AuditEntry.objects.create(
        act=act,
        actor=COMPANY,
        via=AuditEntry.Via.API,
        about=about,
        company_id=caller.company_id,
        details={**caller.details, **details},
        request_id=request_id if OURS.fullmatch(request_id) else None,
        outcome=audit.OUTCOME_DONE,
        ended_at=timezone.now(),
    )
