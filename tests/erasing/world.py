"""One of everything of a company but two webhooks, its canary in each stored text."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from companies.models import ApiToken, Company, KeptAnswer
from core.mailing.outbox import enqueue_mail
from core.models import FailedRow, Mail
from deliveries.models import OPEN, Delivery, Event, LoggedAttempt, State
from desk.models import SavedView
from portal.access import link_to
from portal.models import PortalSession
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tickets.models import (
    Agent,
    Appeal,
    Comment,
    Document,
    HistoryEntry,
    Mention,
    Notification,
    PendingAnswer,
    Rating,
    RequestedDocument,
    Ticket,
    TicketFile,
)
from tickets.statuses import Status
from webhooks.models import Webhook


def everything(word: str, agent: Agent, number: int) -> Company:
    """Create a company whose canary is `word`; ids that the platform assigns begin at `number`."""
    company = build.company(
        f"{word} Ltd", contact_email=f"{word}@example.com", plan=word, ticket_emails=True
    )
    now = timezone.now()
    ApiToken.objects.create(company=company, prefix=f"p{number}", digest=f"{number:064}")
    KeptAnswer.objects.create(
        company=company,
        key=word,
        fingerprint=word,
        status=200,
        headers={"x": word},
        body={"x": word},
        secret_body=word,
        created_at=now,
    )
    webhooks = [
        build.webhook(
            company,
            url=f"https://{word}.example.com/{number}",
            paused_reason=word,
            auth_token=word,
            secret="5e" * 32,
            next_secret="6e" * 32,
            next_secret_at=now,
        )
        for number in range(2)
    ]
    store_deliveries(company, webhooks, word)
    Mail.objects.create(
        address=f"{word}@example.com",
        subject=word,
        text=word,
        created_at=now,
        due_at=now + timedelta(hours=1),
    )
    shipment = store_events(company, word, number)
    ticket = conversation(company, word, agent, shipment)
    for thing in (company, *webhooks, shipment, ticket):
        logged(agent, thing, thing.pk, word)
    for webhook in webhooks:
        logged(agent, Delivery(), Delivery.objects.filter(webhook=webhook)[0].pk, word)
    FailedRow.objects.create(job="x", kind="ticket", key=str(ticket.pk), error=word)
    for webhook in webhooks:
        FailedRow.objects.create(job="x", kind="webhook", key=str(webhook.pk), error=word)
    PendingAnswer.objects.create(
        ticket=ticket,
        user=agent.user,
        text=word,
        requested=[word],
        amounts={"claimed": "1", "currency": word},
        files=[{"name": word, "stored_as": f"files/{word}"}],
        held=word,
    )
    PortalSession.objects.create(
        company=company,
        token=company.tokens.get(),
        return_url=f"https://{word}.example.com",
        url_digest=f"{number:064}",
        created_at=now,
        expires_at=now + timedelta(hours=1),
    )
    with override_settings(PUBLIC_URL="https://desk.example.com"):
        enqueue_mail(f"{word}@example.com", word, f"{word} {link_to(ticket)}", secret=True)
    SavedView.objects.create(owner=agent.user, name=word, query=f"company={company.pk}&q={word}")
    return company


def logged(agent: Agent, thing: Any, key: Any, word: str) -> None:
    LogEntry.objects.create(
        user=agent.user,
        content_type=ContentType.objects.get_for_model(thing),
        object_id=str(key),
        object_repr=word,
        action_flag=CHANGE,
        change_message=word,
    )


def store_deliveries(company: Company, webhooks: list[Webhook], word: str) -> None:
    """Store for each webhook a waiting delivery and a finished one, both attempted.

    They share events, so a walk over one webhook's log cannot go on in the next one's.
    """
    now = timezone.now()
    for state, archived_on in ((State.WAITING, OPEN), (State.DELIVERED, now.date())):
        event = Event.objects.create(
            company=company,
            type_id=webhooks[0].type_id,
            tracking_number=word,
            body=word.encode(),
            created_at=now,
            fact_id=uuid4(),
            request_id=word,
            traceparent=word,
        )
        for webhook in webhooks:
            delivery = Delivery.objects.create(
                event=event,
                webhook=webhook,
                state=state,
                due_at=now,
                created_at=now,
                archived_on=archived_on,
                finished_at=now if state else None,
                attempts=1,
                first_attempt_at=now,
            )
            if state == State.DELIVERED:
                lay_attempt_with(delivery, word)
                continue
            LoggedAttempt.objects.create(
                delivery=delivery,
                number=1,
                started_at=now,
                duration_ms=5,
                url=f"https://{word}.example.com/in",
                detail=word,
                answer=word.encode(),
            )


def lay_attempt_with(delivery: Delivery, word: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE deliveries_delivery SET attempt_url = %s, attempt_duration_ms = 5,"
            " attempt_answer = %s WHERE id = %s",
            [f"https://{word}.example.com/in", word.encode(), delivery.pk],
        )


def store_events(company: Company, word: str, number: int) -> Shipment:
    now = timezone.now()
    digest = word.encode()[:16]
    shipment = build.shipment(
        company, number, tracking_number=word.upper(), order={"to": word}, heard=digest
    )
    TrackingUpdate.objects.create(
        shipment=shipment,
        digest=digest,
        status="Created",
        status_description=word,
        location=word,
        occurred_at=now,
    )
    Surcharge.objects.create(
        surcharge_id=number,
        transaction_type="surcharge",
        shipment=shipment,
        surcharge_type="weight",
        reason=word,
        amount=1,
        currency="EUR",
        created_at=now,
    )
    Incidence.objects.create(
        id=number, shipment=shipment, description=word, heard=digest, created_at=now
    )
    return shipment


def conversation(company: Company, word: str, agent: Agent, shipment: Shipment) -> Ticket:
    now = timezone.now()
    ticket = build.ticket(
        company,
        comments=f"from {word}",
        data=f'{{"name": "{word}"}}',
        warehouse_package_id=word,
        shipment_id=shipment.pk,
        carrier_name="acme",
    )
    at: dict[str, Any] = {"ticket": ticket, "created_at": now}
    comment = Comment.objects.create(
        **at, by="agent", actor="ada", text=f"to {word}", status=Status.PENDING
    )
    Mention.objects.create(comment=comment, agent=agent, written=word)
    Rating.objects.create(**at, rating=2, comment=word)
    Appeal.objects.create(**at, declined_at=now, comment=word, reason=word)
    Document.objects.create(
        ticket=ticket, position=0, field_id=word, key=word, type="input", value=word
    )
    for name in (word, f"{word} again"):
        RequestedDocument.objects.create(**at, name=name)
    Notification.objects.create(
        **at, recipient=agent.user, kind=Notification.Kind.ANSWERED, by="company", actor=word
    )
    for attached in (ticket, None):
        file(company, attached, word)
    HistoryEntry.objects.create(
        **at,
        by="company",
        actor="ada",
        now=Status.PENDING,
        reason=word,
        data={
            "name": word,
            "sha256": word,
            "document": word,
            "requested": [word],
            "variables": {"added": {"x": word}, "removed": {}, "changed": {}},
            "agent": [None, "ada"],
        },
        request_id=word,
    )
    return ticket


def file(company: Company, ticket: Ticket | None, word: str) -> TicketFile:
    stored_as, thumbnail = (
        default_storage.save(f"{word}-{uuid4().hex}", ContentFile(word.encode())) for _ in range(2)
    )
    return build.file(
        company,
        ticket=ticket,
        name=word,
        description=word,
        sha256=word,
        stored_as=stored_as,
        thumbnail=thumbnail,
    )
