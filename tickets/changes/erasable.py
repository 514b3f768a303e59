"""Erasure of a company's data in this app (companies.erasing).

Texts, names and files are removed. Ids, times, statuses, types, reason codes, amounts, ratings and
the names of our agents stay.
"""

from datetime import UTC, datetime
from typing import Any

from django.db import connection

from companies import erasing
from tickets.changes.files import remove_unfinished
from tickets.history_codes import Kind
from tickets.models import PendingAnswer, UnfinishedFile
from tickets.stated_fields import STATED_TEXTS

# Marks files to be removed from the storage; older than any upload.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

TICKETS = "SELECT id FROM tickets_ticket WHERE company_id = %(company)s"
UNATTACHED = """
SELECT id FROM tickets_ticketfile WHERE company_id = %(company)s AND ticket_id IS NULL
"""
ALLOW_HISTORY_CHANGES = "SELECT set_config('parceldesk.erasing', %s, true)"

# Facts of history that stay.
FACTS = sorted({name for kind in Kind for name in kind.row.facts.split()})
HISTORY = """
UPDATE tickets_historyentry SET reason = '', request_id = NULL, data =
  (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(data)
    WHERE key = ANY(%(facts)s))
  || CASE WHEN data ? 'requested' THEN '{"requested": []}' ELSE '{}' END::jsonb
  || CASE WHEN data ? 'sha256' THEN '{"sha256": ""}' ELSE '{}' END::jsonb
  || CASE WHEN data ? 'name' THEN '{"name": "", "document": null}' ELSE '{}' END::jsonb
WHERE ticket_id = ANY(%(keys)s)
"""
FILES = """
WITH gone AS (
  SELECT id, stored_as, thumbnail FROM tickets_ticketfile
  WHERE {} = ANY(%(keys)s) AND stored_as NOT LIKE 'erased/%%' FOR NO KEY UPDATE
), let_go AS (
  INSERT INTO tickets_unfinishedfile (name, created_at)
  SELECT name, '1970-01-01 00:00:00+00' FROM gone, unnest(ARRAY[stored_as, thumbnail]) AS name
  WHERE name <> '' ON CONFLICT DO NOTHING
)
UPDATE tickets_ticketfile AS file SET name = '', description = '', sha256 = '', thumbnail = '',
  stored_as = 'erased/' || file.id
FROM gone WHERE gone.id = file.id
"""
# Rewrites the entries without the erased words, as searches need each ticket's block.
WRITE_SEARCH_ENTRIES = {
    "search entries": "DELETE FROM tickets_searchentry WHERE ticket_id = ANY(%(keys)s)",
    "new search entries": "SELECT tickets_write_search_entries(%(keys)s::bigint[])",
}
NO_STATED_TEXTS = ", ".join(f"{name} = NULL" for name in STATED_TEXTS)
BLANK_TICKETS = {
    "tickets": f"""
UPDATE tickets_ticket SET comments = '', data = NULL, {NO_STATED_TEXTS}
WHERE id = ANY(%(keys)s)
""",  # noqa: S608 - our own text
    "comments": "UPDATE tickets_comment SET text = '' WHERE ticket_id = ANY(%(keys)s)",
    "mentions": """
DELETE FROM tickets_mention WHERE comment_id IN (
  SELECT id FROM tickets_comment WHERE ticket_id = ANY(%(keys)s))
""",
    "ratings": """
UPDATE tickets_rating SET comment = '' WHERE ticket_id = ANY(%(keys)s) AND comment <> ''
""",
    "appeals": """
UPDATE tickets_appeal SET comment = '', reason = '' WHERE ticket_id = ANY(%(keys)s)
""",
    "documents": """
UPDATE tickets_document SET field_id = '', key = NULL, value = NULL WHERE ticket_id = ANY(%(keys)s)
""",
    # The id keeps names unique: a ticket's open requests must have different names.
    "requested documents": """
UPDATE tickets_requesteddocument SET name = 'erased ' || id WHERE ticket_id = ANY(%(keys)s)
""",
    "files": FILES.format("ticket_id"),
    "notifications": "DELETE FROM tickets_notification WHERE ticket_id = ANY(%(keys)s)",
    **WRITE_SEARCH_ENTRIES,
    "failed rows": """
DELETE FROM core_failedrow WHERE kind = 'ticket' AND key = ANY(%(keys)s::text[])
""",
}
BLANK_FILES = {"files": FILES.format("id")}


def blank_tickets(keys: list[int]) -> dict[str, int]:
    """Blank tickets and their related rows in the caller's transaction; returns the counts."""
    counts = erasing.execute_all(BLANK_TICKETS, keys)
    counts["pending answers"] = PendingAnswer.objects.filter(ticket__in=keys).forget(LONG_AGO)
    del counts["new search entries"]
    with connection.cursor() as cursor:
        cursor.execute(ALLOW_HISTORY_CHANGES, ["on"])
        cursor.execute(HISTORY, {"keys": keys, "facts": FACTS})
        counts["history"] = cursor.rowcount
        # The caller, such as a test, may continue in the same transaction.
        cursor.execute(ALLOW_HISTORY_CHANGES, ["off"])
    return counts


def blank_unattached(keys: list[int]) -> dict[str, int]:
    return erasing.execute_all(BLANK_FILES, keys)


def remove_erased_files() -> None:
    """Remove erased files from the storage; the job `remove_orphans` retries failures."""
    waiting: Any = UnfinishedFile.objects.filter(created_at=LONG_AGO).values_list("name", flat=True)
    for name in list(waiting):
        remove_unfinished(name)


erasing.register_erasable(
    __name__,
    erasing.Part("tickets", erasing.walk_of_ids(TICKETS, 100), blank_tickets, remove_erased_files),
    erasing.Part(
        "unattached files",
        erasing.walk_of_ids(UNATTACHED, 100),
        blank_unattached,
        remove_erased_files,
    ),
)
