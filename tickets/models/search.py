from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q

from tickets.models.tickets import Ticket


class SearchEntry(models.Model):
    """Search terms of a ticket, besides its messages, documents and files.

    A trigger writes it; tickets/changes/search_entries.py updates it if the shipment was unknown.
    """

    # Without a constraint, whose check would slow down every new ticket; searches join the ticket.
    ticket = models.OneToOneField(
        Ticket, on_delete=models.CASCADE, primary_key=True, related_name="+", db_constraint=False
    )
    # The shipment's number from search_key(); null while the shipment is unknown.
    tracking = models.TextField(null=True)  # noqa: DJ001 - see above
    # Words, values of the variables (=) and four-letter substrings of the tracking number (#), each
    # prefixed with the name of the ticket's block: see search_terms().
    terms = SearchVectorField()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["-ticket"], condition=Q(tracking=None), name="search_untracked"),
            # No pending list, which every search would have to scan.
            GinIndex(fields=["terms"], fastupdate=False, name="search_terms_of_ticket"),
        ]

    def __str__(self) -> str:
        return f"search entry {self.pk}"
