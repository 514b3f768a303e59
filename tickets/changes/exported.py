"""Export of a company's tickets (companies.exporting)."""

from collections.abc import Iterator, Sequence
from typing import Any

from companies import erasing
from companies.exporting import Exported, register_exported
from core.files.archive_names import archive_name
from tickets.changes.erasable import TICKETS
from tickets.models import TicketFile

FILES = "SELECT id FROM tickets_ticketfile WHERE company_id = %(company)s"

walk = erasing.walk_of_ids(TICKETS, 500)


def contents(keys: Sequence[Any], internal: bool) -> Iterator[tuple[str, str]]:
    files: Any = TicketFile.objects.filter(pk__in=keys).order_by("pk")
    if not internal:
        files = files.filter(public=True)
    for pk, name, stored_as in files.values_list("pk", "name", "stored_as"):
        yield archive_name(pk, name), stored_as


def of_tickets(
    name: str,
    about: str,
    table: str,
    *,
    internal: Sequence[str] = (),
    shared: bool = False,
    order: str = "ticket_id, id",
) -> Exported:
    return Exported(
        name, about, table, walk, "ticket_id", internal=internal, shared=shared, order=order
    )


register_exported(
    __name__,
    Exported(
        "tickets",
        "its tickets. status is the number that the API calls ticket_status_id.",
        "tickets_ticket",
        walk,
        without=("clock_digest", "version"),
        internal=("agent_id", "escalated_due_at"),
    ),
    of_tickets(
        "comments",
        "what was written on its tickets. by says who.",
        "tickets_comment",
        internal=("actor",),
        shared=True,
    ),
    of_tickets(
        "history",
        "what became of its tickets: from which status to which, why and when.",
        "tickets_historyentry",
        internal=("actor", "data"),
        shared=True,
    ),
    of_tickets("ratings", "how it rated tickets.", "tickets_rating"),
    of_tickets("appeals", "its appeals against Declined.", "tickets_appeal"),
    of_tickets("documents", "the documents that tickets name.", "tickets_document"),
    of_tickets("requested_documents", "what it was asked to send.", "tickets_requesteddocument"),
    of_tickets("incidence_links", "which incidences tickets are about.", "tickets_incidencelink"),
    Exported(
        "files",
        "files of its tickets. What they hold lies in files/, as far as it is still kept; the name"
        " there begins with the id.",
        "tickets_ticketfile",
        erasing.walk_of_ids(FILES, 100),
        without=("stored_as", "thumbnail"),
        internal=("actor",),
        shared=True,
        contents=contents,
    ),
)
