"""Audit log of companies' acts by API that operators must be able to trace.

Changes of webhooks, and deliveries sent again. Acts on a ticket are in its history, and
the access log has the token of every request. Why: decision page audit-is-written-before-the-act.
"""

import re
from contextvars import ContextVar

from django.utils import timezone

from companies import audit
from companies.models import ApiToken, AuditEntry
from core.watch import request_ids

# The actor of an entry. Its token is in the details: there may be thousands of tokens.
COMPANY = "company"
# An id that the caller chose may hold a text of the company, and entries outlive an erasure.
OURS = re.compile(r"[0-9a-f]{32}")

token_at_work: ContextVar[ApiToken | None] = ContextVar("token", default=None)


def record_api_act(act: str, about: str, **details: str | int) -> None:
    """Record an act of the company of the request at work, in the caller's transaction.

    Does nothing without a company's token: desk and commands record their own acts.
    `details` must hold no text of the company.
    """
    token = token_at_work.get()
    if token is None:
        return
    request_id = request_ids.current() or ""
    AuditEntry.objects.create(
        act=act,
        actor=COMPANY,
        via=AuditEntry.Via.API,
        about=about,
        company_id=token.company_id,
        details={"token": token.prefix, **details},
        request_id=request_id if OURS.fullmatch(request_id) else None,
        outcome=audit.OUTCOME_DONE,
        ended_at=timezone.now(),
    )
