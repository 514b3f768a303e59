"""Retention of the audit log and of stored responses, and the run of the job, with its entry."""

from datetime import datetime

from companies import audit
from companies.models import AuditEntry, KeptAnswer, KeptBundle
from companies.models.kept_answers import KEPT_FOR
from core import retention
from core.retention import Sweep, kind


@kind("audit", is_evidence=True)
def forget_audit(sweep: Sweep, before: datetime) -> None:
    old = AuditEntry.objects.filter(at__lt=before).order_by("at")
    sweep.delete("audit", old, "entries of the audit")


@kind("answers", expires=True)
def forget_answers(sweep: Sweep, now: datetime) -> None:
    for model, what in ((KeptAnswer, "kept answers"), (KeptBundle, "kept bundles")):
        old = model._base_manager.filter(created_at__lt=now - KEPT_FOR).order_by("created_at")
        sweep.delete("answers", old, f"{what} older than a day")


def forget_some() -> bool:
    """Do a run of the job; return whether there may be more to do. Raises WeeksInUse."""
    sweep = retention.forget_some()
    if went := sweep.by_setting():
        audit.record_act("prune", actor="retention", via=AuditEntry.Via.TASK, details=went)
    sweep.refuse_weeks_in_use()
    return sweep.may_have_more
