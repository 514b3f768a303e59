"""Stored responses, for repeated requests with the same key."""

from datetime import timedelta

from django.db import models

from companies.models.company import Company
from core.data.encryption import EncryptedTextField

KEPT_FOR = timedelta(hours=24)


class KeptAnswer(models.Model):
    """The first response to a POST with an Idempotency-Key.

    Why: decision page idempotency-the-first-answer-again.
    """

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    # Fingerprint of the body's JSON in one normal form. Empty in rows of earlier versions.
    meaning = models.CharField(max_length=64, default="", db_default="")
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    # Leaves out the secrets that the response showed.
    body = models.JSONField()
    # The whole body, if it showed a secret (decision N16).
    secret_body = EncryptedTextField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "key"], name="one_answer_per_key"),
        ]
        indexes = [models.Index(fields=["created_at"], name="kept_answer_age")]

    def __str__(self) -> str:
        return f"{self.status} for {self.key}"


class KeptBundle(models.Model):
    """A bundle of the platform's feed with an Idempotency-Key: being recorded, or answered.

    Why: decision N25.
    """

    key = models.CharField(max_length=255, unique=True)
    fingerprint = models.CharField(max_length=64)
    # Lease of the request that records it. Once over, the next request with the key may begin.
    busy_until = models.DateTimeField(null=True)
    # The JSON as it was answered; empty until then.
    answer = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="kept_bundle_age")]

    def __str__(self) -> str:
        return self.key
