from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q

from tickets.models.tickets import Ticket


class SearchEntry(models.Model):
    """What a ticket is found by, beside its messages, documents and files.

    A trigger writes it. While the shipment is unknown, tickets/changes/search_entries.py looks.
    """

    # No constraint: checking it would cost every new ticket, and an entry without one is not found.
    ticket = models.OneToOneField(
        Ticket, on_delete=models.CASCADE, primary_key=True, related_name="+", db_constraint=False
    )
    # Its shipment's number as search_key() has it. Null while the shipment is not known.
    tracking = models.TextField(null=True)  # noqa: DJ001 - see above
    # Words, values of the variables (=) and four letters in a row of the tracking number (#), each
    # behind the name of the ticket's block: see search_terms().
    terms = SearchVectorField()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["-ticket"], condition=Q(tracking=None), name="search_untracked"),
            # Without a list of what is pending, which every search would have to read through.
            GinIndex(fields=["terms"], fastupdate=False, name="search_terms_of_ticket"),
        ]

    def __str__(self) -> str:
        return f"search entry {self.pk}"
