from django.db import models
from django.db.models import Q

from companies.models import Company
from tickets.models.tickets import Ticket

LONGEST_DOCUMENT_NAME = 200


class RequestedDocument(models.Model):
    """Something that agents have asked the company of a ticket for, by name (decision N9)."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="requested_documents", db_index=False
    )
    name = models.CharField(max_length=LONGEST_DOCUMENT_NAME)
    created_at = models.DateTimeField()
    # When a file came that names it.
    fulfilled_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        ordering = ["id"]
        indexes = [models.Index(fields=["ticket", "id"], name="requested_of_ticket")]
        constraints = [
            # What has come may be asked for again.
            models.UniqueConstraint(
                fields=["ticket", "name"],
                condition=Q(fulfilled_at=None),
                name="one_open_request_per_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class TicketFile(models.Model):
    """A file that a company has sent (decision N8). Its content lies in the storage."""

    company = models.ForeignKey(
        Company, on_delete=models.PROTECT, related_name="files", db_index=False
    )
    # Null until the company attaches it.
    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, null=True, related_name="files", db_index=False
    )
    requested_document = models.ForeignKey(
        RequestedDocument,
        on_delete=models.SET_NULL,
        null=True,
        related_name="files",
        db_index=False,
    )
    # As people are shown it; the storage knows it by another.
    name = models.CharField(max_length=150)
    description = models.TextField(blank=True)
    media_type = models.CharField(max_length=50)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    # A PDF with scripts or attached files, which agents are warned of.
    active = models.BooleanField(default=False)
    stored_as = models.CharField(max_length=255, unique=True)
    # The name of a small picture in the storage; empty where none can be made, null until then.
    thumbnail = models.CharField(max_length=255, null=True)  # noqa: DJ001 - see above
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["ticket", "id"], condition=Q(ticket__isnull=False), name="file_of_ticket"
            ),
            models.Index(
                fields=["company", "created_at"], condition=Q(ticket=None), name="file_unattached"
            ),
            models.Index(fields=["id"], condition=Q(thumbnail=None), name="file_without_thumbnail"),
        ]

    def __str__(self) -> str:
        return self.name


class UnfinishedFile(models.Model):
    """A name in the storage that no file of a ticket has yet, or has any more."""

    name = models.CharField(max_length=255, unique=True)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
