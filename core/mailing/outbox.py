"""Emails to companies: rows of the transaction that they report on, sent by a job of its own.

A claim counts the attempt and schedules the next one, before anything is sent. So it does not
matter how an attempt ends: what was sent is deleted, and all else is retried. An email is sent
twice only if the process dies, or the mail server falls silent, between the server's acceptance and
our record of it; both copies then have the same Message-ID.
Why: decision page engine-emails-are-rows-and-sent-at-least-once.
"""

import logging
from datetime import datetime
from email.utils import parseaddr
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.db.models import Min
from django.utils import timezone

from core.data.encryption import decrypt
from core.jobs import doorbell
from core.jobs.failing_rows import FailingRows
from core.measures import catalogue, counting
from core.models import Mail

logger = logging.getLogger(__name__)

# Most emails of a run, and the seconds after which it is killed, whatever the mail server does.
MOST_AT_ONCE = 20
LIMIT_SECONDS = 120
# The waits double, and add up to 25 hours. The first is longer than a run may take, so no email is
# sent by two runs at a time.
FIRST_WAIT_SECONDS = 180
TRIES = 10

CLAIM = """
UPDATE core_mail SET tries = tries + 1, due_at = statement_timestamp() + make_interval(
  secs => CASE WHEN tries + 1 < %(most)s THEN %(wait)s * power(2, tries) ELSE %(wait)s END)
WHERE id = (
  SELECT id FROM core_mail WHERE due_at <= statement_timestamp() AND tries < %(most)s
  ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, address, subject, text, secret_text, tries
"""

GIVE_UP = """
DELETE FROM core_mail WHERE due_at <= statement_timestamp() AND tries >= %(most)s
RETURNING subject
"""


class ClaimedMail(NamedTuple):
    id: UUID
    address: str
    subject: str
    text: str
    # Encrypted text, instead of `text`.
    secret_text: str | None
    tries: int


def enqueue_mail(address: str, subject: str, text: str, *, secret: bool = False) -> None:
    """Store an email that is to be sent. It is sent once the transaction is committed.

    The text of a `secret` email is encrypted: it holds a link that grants access.
    """
    now = timezone.now()
    Mail.objects.create(
        address=address,
        subject=subject,
        text="" if secret else text,
        secret_text=text if secret else None,
        created_at=now,
        due_at=now,
    )


def ring_mail_job() -> None:
    """Have due emails sent at once, when the transaction is committed.

    Engine loops do not call it, as they never wait for the broker: the scheduler finds their rows.
    """
    transaction.on_commit(lambda: doorbell.ring_job("send_mails"), robust=True)


def send_due() -> int:
    """Send due emails, at most MOST_AT_ONCE; return how many were sent.

    An email that fails does not stop the others. A mail server that is away is tried once a run.
    """
    give_up()
    rows = FailingRows("send_mails")
    sent_count = 0
    for _ in range(MOST_AT_ONCE):
        mail = claim_mail()
        if mail is None:
            return sent_count
        try:
            submit_mail(mail)
        # Whatever is wrong with one email, the others go out.
        except Exception as error:
            logger.warning(
                'the email "%s" was not sent (try %d of %d): %s',
                mail.subject,
                mail.tries,
                TRIES,
                error,
            )
            counting.count(catalogue.MAILS, "failed")
            if server_is_away(error):
                return sent_count
            rows.note("email", mail.id, error)
        else:
            Mail.objects.filter(pk=mail.id).delete()
            rows.forget("email", [mail.id])
            counting.count(catalogue.MAILS, "sent")
            sent_count += 1
    return sent_count


def has_mail() -> bool:
    """Return whether an email is due."""
    return Mail.objects.filter(due_at__lte=timezone.now()).exists()


def oldest_due_mail() -> datetime | None:
    """Return when the oldest unsent email was created; None if there is none."""
    first: datetime | None = Mail.objects.aggregate(first=Min("created_at"))["first"]
    return first


def server_is_away(error: Exception) -> bool:
    """Return whether the next email would fail too: the error is not about this one."""
    about_one = (SMTPRecipientsRefused, SMTPDataError)
    return isinstance(error, OSError) and not isinstance(error, about_one)


def claim_mail() -> ClaimedMail | None:
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"most": TRIES, "wait": FIRST_WAIT_SECONDS})
        row = cursor.fetchone()
        return ClaimedMail._make(row) if row else None


def give_up() -> None:
    with connection.cursor() as cursor:
        cursor.execute(GIVE_UP, {"most": TRIES})
        for (subject,) in cursor.fetchall():
            counting.count(catalogue.MAILS, "given_up")
            logger.error('the email "%s" is given up after %d tries', subject, TRIES)


def submit_mail(mail: ClaimedMail) -> None:
    """Hand an email to the mail server. Raises UnreadableSecret and what the server raises."""
    text = mail.text if mail.secret_text is None else decrypt(mail.secret_text)
    sender = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    domain = sender.rpartition("@")[2] or "localhost"
    headers = {"Message-ID": f"<{mail.id}@{domain}>"}
    EmailMessage(mail.subject, text, None, [mail.address], headers=headers).send()
