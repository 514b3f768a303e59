"""Retention of the desk's logs of users, and of their sessions."""

from datetime import datetime

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session

from core.retention import Sweep, kind
from desk.people.resets import forget_requests
from desk.people.seen_sessions import forget_unseen

SIGN_INS = (AccessAttempt, AccessLog, AccessFailureLog)


@kind("desk_log")
def forget_desk_log(sweep: Sweep, before: datetime) -> None:
    sweep.delete_log("desk_log", LogEntry, "action_time", before)


@kind("sign_ins")
def forget_sign_ins(sweep: Sweep, before: datetime) -> None:
    for model in SIGN_INS:
        sweep.delete_log("sign_ins", model, "attempt_time", before)


@kind("sessions", expires=True)
def forget_sessions(sweep: Sweep, now: datetime) -> None:
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date")
    sweep.delete("sessions", expired, "expired sessions")
    forget_unseen(dry_run=sweep.dry_run)
    forget_requests(dry_run=sweep.dry_run)
