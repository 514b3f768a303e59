"""What leaves beside deliveries."""

import uuid

from django.db import models


class Mail(models.Model):
    """An email that is still to be sent (deliveries.mailing)."""

    # Part of the Message-ID, so that a repeat can be recognised.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    address = models.EmailField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Begun.")

    def __str__(self) -> str:
        return self.subject


class SampleSend(models.Model):
    """A test send in flight (deliveries.on_demand)."""

    company_id = models.BigIntegerField()
    # The web process whose thread waits for it.
    process = models.CharField(max_length=300)
    # It has certainly ended by then, whatever became of its process.
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"test send of company {self.company_id}"
