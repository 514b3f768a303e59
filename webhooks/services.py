"""All writes of webhooks."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.api_acts import record_api_act
from companies.models import Company
from core.data.encryption import UnreadableSecret
from webhooks import target_policy, targets
from webhooks.event_types import registry
from webhooks.models import Webhook


class UnknownType(ValueError):
    """No webhook type has this id."""


class UnknownWebhook(LookupError):
    """The webhook is missing, deleted, or another company's."""


class AlreadyRegistered(Exception):
    """The company's webhook `webhook_id` already has this type and URL."""

    def __init__(self, webhook_id: int) -> None:
        super().__init__("This URL already receives events of this type.")
        self.webhook_id = webhook_id


class TooManyWebhooks(Exception):
    """The company has reached its limit of webhooks."""

    def __init__(self, most: int) -> None:
        super().__init__(f"A company can have {most} webhooks. Delete one to register another.")


class NotSigned(ValueError):
    """Webhooks of this type have no secret."""

    def __init__(self, type_name: str) -> None:
        super().__init__(f"Webhooks of type {type_name} are not signed.")


class OtherKind(ValueError):
    """A webhook with a URL cannot become a fetched one, or vice versa."""


@transaction.atomic
def register_webhook(
    company: Company,
    *,
    type_id: int,
    url: str | None,
    active: bool = True,
    auth_token: str | None = None,
    max_in_flight: int | None = None,
    standard_headers: bool = False,
) -> Webhook:
    """Create a webhook (decision N4); one without a URL is fetched (decision N6).

    `max_in_flight` limits concurrent requests; None leaves that to the engine. Raises UnknownType,
    NotSigned for `standard_headers`, AlreadyRegistered, TooManyWebhooks, and
    webhooks.targets.BadTarget (decision W23).
    """
    event_type = registry.get(type_id)
    if event_type is None:
        valid_ids = ", ".join(str(each.id) for each in registry)
        raise UnknownType(f"Send one of {valid_ids}; GET /webhook-types says what they tell of.")
    if standard_headers and not event_type.signed:
        raise NotSigned(event_type.name)
    if url is not None:
        targets.check_target(url, target_policy.current_policy())
    lock_webhooks(company)
    if url is not None:
        check_unused(company, type_id, url)
    if company.webhooks.present().count() >= settings.WEBHOOKS_PER_COMPANY:
        raise TooManyWebhooks(settings.WEBHOOKS_PER_COMPANY)
    webhook = Webhook.objects.create(
        company=company,
        type_id=type_id,
        url=url or "",
        active=active,
        auth_token=auth_token,
        max_in_flight=max_in_flight,
        standard_headers=standard_headers,
        secret=make_secret() if event_type.signed else None,
        begins_after=import_string(settings.NEWEST_EVENT_NUMBER)(),
    )
    record_api_act("register_webhook", str(webhook), type=webhook.type_name)
    return webhook


@transaction.atomic
def change_webhook(company: Company, webhook_id: int, **changes: Any) -> Webhook:
    """Change any of `url`, `active`, `auth_token`, `max_in_flight` and `standard_headers`.

    Raises UnknownWebhook, NotSigned, OtherKind, AlreadyRegistered, and webhooks.targets.BadTarget;
    an error changes nothing.
    """
    if "url" in changes:
        lock_webhooks(company)
    webhook = lock_webhook(company, webhook_id)
    details: dict[str, str | int] = {"fields": " ".join(sorted(changes))}
    if changes.get("standard_headers") and not webhook.signed:
        raise NotSigned(webhook.type_name)
    if "url" in changes:
        changes["url"] = check_new_url(webhook, changes["url"])
    if "active" in changes:
        changes.update(activation(webhook, changes["active"]))
    resumed = not webhook.active and changes.get("active", False)
    for name, value in changes.items():
        setattr(webhook, name, value)
    webhook.save(update_fields=[*changes, "updated_at"])
    if "active" in changes:
        details["active"] = int(webhook.active)
    record_api_act("change_webhook", str(webhook), **details)
    if resumed and not webhook.fetched:
        import_string(settings.WEBHOOK_RESUMED)(webhook.pk)
    return webhook


@transaction.atomic
def pause(webhook_id: int, reason: str) -> bool:
    """Pause a webhook, with a reason that the company sees. Returns False if it was paused."""
    return bool(
        Webhook.objects.present()
        .filter(pk=webhook_id, active=True)
        .update(active=False, paused_reason=reason[:300], updated_at=timezone.now())
    )


@transaction.atomic
def resume(webhook_id: int) -> bool:
    """Resume a webhook. Returns False if it is not paused, or is deleted."""
    webhook = Webhook.objects.present().select_for_update(no_key=True).filter(pk=webhook_id).first()
    if webhook is None or webhook.active:
        return False
    change_webhook(webhook.company, webhook_id, active=True)
    return True


def resume_company(company_id: int) -> None:
    """Treat a company's active webhooks as just resumed.

    Called in the transaction that reactivates the company (`settings.COMPANY_RESUMED`).
    """
    webhooks = Webhook.objects.present().filter(company=company_id, active=True)
    webhooks.update(resumed_at=timezone.now())
    for webhook_id in webhooks.exclude(url="").order_by("pk").values_list("pk", flat=True):
        import_string(settings.WEBHOOK_RESUMED)(webhook_id)


@transaction.atomic
def delete_webhook(company: Company, webhook_id: int) -> None:
    """Delete a webhook; the next sweep cancels its waiting deliveries (decision W7).

    Raises UnknownWebhook.
    """
    webhook = lock_webhook(company, webhook_id)
    webhook.active = False
    webhook.deleted_at = timezone.now()
    webhook.save(update_fields=["active", "deleted_at", "updated_at"])
    record_api_act("delete_webhook", str(webhook))


@transaction.atomic
def rotate_secret(company: Company, webhook_id: int, *, activates_in: timedelta) -> Webhook:
    """Make a new secret that signs deliveries after `activates_in` (decision W9).

    If no key decrypts the current secret the new one signs at once: until then nothing could be
    signed. Raises UnknownWebhook and NotSigned.
    """
    webhook = lock_webhook(company, webhook_id)
    if not webhook.signed:
        raise NotSigned(webhook.type_name)
    now = timezone.now()
    secret = make_secret()
    try:
        webhook.secret = webhook.signing_secret(now)
        webhook.next_secret_at = now + activates_in
    except UnreadableSecret:
        webhook.secret, webhook.next_secret_at = secret, now
    webhook.next_secret = secret
    webhook.save(update_fields=["secret", "next_secret", "next_secret_at", "updated_at"])
    seconds = int(activates_in.total_seconds())
    record_api_act("rotate_secret", str(webhook), activates_in=seconds)
    return webhook


def activation(webhook: Webhook, active: bool) -> dict[str, Any]:
    if not active:
        return {"active": False}
    resumed: dict[str, datetime] = {} if webhook.active else {"resumed_at": timezone.now()}
    return {"active": True, "paused_reason": "", **resumed}


def lock_webhooks(company: Company) -> None:
    """Serialize the registrations and changes of URL of one company.

    Call it before locking or reading any of the company's webhooks.
    """
    # no_key: others may insert rows that refer to the company.
    list(Company.objects.select_for_update(no_key=True).filter(pk=company.pk).values_list("pk"))


def check_new_url(webhook: Webhook, url: str | None) -> str:
    """Return the URL to store. Raises OtherKind, BadTarget and AlreadyRegistered."""
    if url is None and webhook.fetched:
        return ""
    if url is None:
        raise OtherKind(
            "This webhook keeps a URL. To fetch events, register another with url null."
        )
    if webhook.fetched:
        raise OtherKind("This webhook has no URL and gets none. Register another with the URL.")
    targets.check_target(url, target_policy.current_policy())
    if url != webhook.url:
        check_unused(webhook.company, webhook.type_id, url, but=webhook.pk)
    return url


def check_unused(company: Company, type_id: int, url: str, *, but: int = 0) -> None:
    """Raise AlreadyRegistered if a webhook of the type other than `but` has an equivalent URL."""
    others = company.webhooks.present().filter(type_id=type_id).exclude(pk=but).exclude(url="")
    wanted = targets.canonical_url(url)
    for webhook_id, used in others.order_by("pk").values_list("pk", "url"):
        if targets.canonical_url(used) == wanted:
            raise AlreadyRegistered(webhook_id)


def lock_webhook(company: Company, webhook_id: int) -> Webhook:
    # no_key: others may insert rows that refer to the webhook.
    webhook = (
        company.webhooks.present().select_for_update(no_key=True).filter(pk=webhook_id).first()
    )
    if webhook is None:
        raise UnknownWebhook
    return webhook


def make_secret() -> str:
    """Return 64 random hex digits. Their text, not the bytes, is the key (decisions W4, W10)."""
    return secrets.token_hex(32)
