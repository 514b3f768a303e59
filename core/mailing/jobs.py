"""Jobs of emails. Their names are in metrics, and in the rows of jobs."""

from datetime import timedelta

from core.jobs.job import job
from core.mailing import outbox


@job(
    every=timedelta(seconds=10),
    limit_seconds=outbox.LIMIT_SECONDS,
    batch=outbox.MOST_AT_ONCE,
    has_work=outbox.has_mail,
    in_child=True,
)
def send_mails() -> int:
    return outbox.send_due()
