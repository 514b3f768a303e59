from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.data.reading_order import ReadingOrder
from tickets.models.tickets import Ticket
from tickets.models.types import TicketType
from tickets.statuses import By

LONGEST_DOCUMENT_NAME = 200


class RequestedDocument(models.Model):
    """Document that agents have requested from a ticket's company by name (decision N9)."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="requested_documents", db_index=False
    )
    name = models.CharField(max_length=LONGEST_DOCUMENT_NAME)
    created_at = models.DateTimeField()
    # Time at which a file or document fulfilled the request.
    fulfilled_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        ordering = ["id"]
        indexes = [models.Index(fields=["ticket", "id"], name="requested_of_ticket")]
        constraints = [
            # A fulfilled document may be requested again.
            models.UniqueConstraint(
                fields=["ticket", "name"],
                condition=Q(fulfilled_at=None),
                name="one_open_request_per_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RequiredDocument(models.Model):
    """Document that tickets of a type or carrier need before they are decided."""

    type = models.ForeignKey(
        TicketType,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("ticket type"),
        help_text=_("Leave empty for any type."),
    )
    carrier_name = models.CharField(
        _("carrier"), max_length=100, blank=True, help_text=_("Leave empty for any carrier.")
    )
    name = models.CharField(
        _("name"),
        max_length=LONGEST_DOCUMENT_NAME,
        help_text=_("As the company is asked for it, for example Invoice of the goods."),
    )

    class Meta:
        ordering = ["type", ReadingOrder("carrier_name"), "id"]
        verbose_name = _("required document")
        verbose_name_plural = _("required documents")
        constraints = [
            models.UniqueConstraint(
                fields=["type", "carrier_name", "name"],
                nulls_distinct=False,
                name="one_required_document_per_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name


# Prefixes of names whose content an erasure, or retention, has removed from the storage.
REMOVED_PREFIXES = ("erased/", "forgotten/")
HAS_CONTENT = Q(
    Q(ticket__isnull=False), *(~Q(stored_as__startswith=prefix) for prefix in REMOVED_PREFIXES)
)


class TicketFile(models.Model):
    """File from a company or an agent, whose content is in the storage (decision N8)."""

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
    by = models.CharField(
        max_length=10,
        choices=[(By.COMPANY.value, "company"), (By.AGENT.value, "agent")],
        default=By.COMPANY.value,
        db_default=By.COMPANY.value,
    )
    # Name of the agent who added it, shown to agents only.
    actor = models.CharField(max_length=150, blank=True, default="", db_default="")
    # A file that an agent adds with a note is not shown to the company.
    public = models.BooleanField(default=True, db_default=True)
    # Displayed name; the name in the storage is `stored_as`.
    name = models.CharField(max_length=150)
    description = models.TextField(blank=True)
    media_type = models.CharField(max_length=50)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    # The file is a PDF with scripts or attachments; agents are warned.
    active = models.BooleanField(default=False)
    stored_as = models.CharField(max_length=255, unique=True)
    # Name of the thumbnail in the storage; null until it is made, "" if there can be none.
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
            models.Index(fields=["id"], condition=HAS_CONTENT, name="file_with_content"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_content(self) -> bool:
        """False if the content was removed by an erasure or retention."""
        return not self.stored_as.startswith(REMOVED_PREFIXES)


class UnfinishedFile(models.Model):
    """Name in the storage that no TicketFile has yet, or has any more."""

    name = models.CharField(max_length=255, unique=True)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
