import hashlib
import hmac
from datetime import timedelta

import requests
from celery import Task, shared_task
from django.utils import timezone

from tools.bench.peers.plain.models import Attempt, Delivery

EVENT = "tracking.simple"


@shared_task(bind=True, max_retries=9)
def deliver(self: Task, delivery_id: int) -> None:
    delivery = Delivery.objects.select_related("webhook").get(pk=delivery_id)
    started_at = timezone.now()
    status, answer = None, ""
    try:
        response = requests.post(
            delivery.webhook.url, data=delivery.body.encode(), headers=headers(delivery), timeout=5
        )
        status, answer = response.status_code, response.text[:16_384]
    except requests.RequestException as error:
        answer = str(error)
    Attempt.objects.create(
        delivery=delivery,
        started_at=started_at,
        duration_ms=(timezone.now() - started_at) / timedelta(milliseconds=1),
        status=status,
        answer=answer,
    )
    delivery.attempts += 1
    if status is not None and 200 <= status < 300:
        delivery.state = "delivered"
        delivery.finished_at = timezone.now()
    delivery.save()
    if delivery.state != "delivered":
        raise self.retry(countdown=300)


def headers(delivery: Delivery) -> dict[str, str]:
    timestamp = int(timezone.now().timestamp() * 1000)
    signed = f"{timestamp}.{EVENT}.{delivery.body}".encode()
    signature = hmac.new(delivery.webhook.secret.encode(), signed, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "plain/1.0.0",
        "X-Webhook-Event": EVENT,
        "X-Webhook-Version": "2025-09-01",
        "X-Webhook-Id": f"{delivery.pk}",
        "X-Webhook-Timestamp": f"{timestamp}",
        "X-Webhook-Signature": f"v1={signature}",
    }
