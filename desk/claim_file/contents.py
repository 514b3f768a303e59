"""Contents of a claim file: what the company is shown of its ticket, and never more.

The carrier's copy also leaves out what is between the company and us: our decision and deadline,
what we offered and wrote, and the deliveries. Words are in the active language, times in the active
zone.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext

from core.files.archive_names import archive_name
from core.files.kinds import KINDS
from core.values.money import money_text
from core.values.texts import legible, show_controls
from core.values.zones import active_zone, in_zone, minute_text, moment_text
from deliveries.models import Delivery
from desk.support import lookup
from shipments.labels import tracking_label
from shipments.models import Shipment, TrackingUpdate
from tickets.api.conversation import read_conversation
from tickets.api.queries import describe_ticket
from tickets.labels import status_label
from tickets.models import ReasonCode, Ticket, TicketFile
from webhooks.models import Webhook

MOST_SCANS = 5_000
# Of longer tables the newest are on paper, and all are in the CSV files.
MOST_ROWS = 200
# Pages of comments, at most 500 or 4 MiB each.
MOST_PAGES = 5

Rows = list[list[str | datetime | None]]


class ClaimFacts(NamedTuple):
    """What is read of a claim, once: for the PDF, the tables and the data beside it."""

    ticket: Ticket
    shipment: Shipment | None
    scans: Rows
    deliveries: Rows
    files: list[TicketFile]
    # As the company is shown it.
    row: dict[str, Any]
    for_carrier: bool


def read_claim(ticket: Ticket, *, for_carrier: bool = False) -> ClaimFacts:
    shipment = own_shipment(ticket)
    row = describe_ticket(ticket.company, ticket.pk, with_comments=True, base="")
    row["allComments"] = read_conversation(ticket.company, ticket.pk, MOST_PAGES)
    files = list(ticket.files.filter(public=True))
    for shown, file in zip(row["files"], files, strict=True):
        del shown["url"]
        shown |= {"file": f"files/{archive_name(file.pk, file.name)}", "sha256": file.sha256}
    told = [] if for_carrier else delivery_rows(told_deliveries(shipment))
    return ClaimFacts(ticket, shipment, scans_of(shipment), told, files, row, for_carrier)


def own_shipment(ticket: Ticket) -> Shipment | None:
    own = Shipment.objects.filter(company=ticket.company_id, pk=ticket.shipment_id or 0)
    return own.first()


def scans_of(shipment: Shipment | None) -> Rows:
    if shipment is None:
        return []
    columns = ("occurred_at", "status", "status_description", "location")
    newest = TrackingUpdate.objects.filter(shipment=shipment).order_by("-occurred_at")
    found = newest.values_list(*columns)[:MOST_SCANS]
    return [[at, tracking_label(status), *rest] for at, status, *rest in found]


class Told(NamedTuple):
    """What the company's webhooks got about a shipment, newest first; `cut`: there was more."""

    webhooks: dict[int, Webhook]
    deliveries: list[Delivery]
    cut: bool


def told_deliveries(shipment: Shipment | None) -> Told:
    if shipment is None:
        return Told({}, [], cut=False)
    webhooks = {one.pk: one for one in lookup.webhooks_of(shipment.company)}
    found = lookup.events_of(shipment.tracking_number, shipment.company)
    # What we and the company write to each other is no carrier's business.
    events = [event for event in found if event.ticket_id is None][: lookup.MOST_EVENTS]
    deliveries = lookup.deliveries_of(events, list(webhooks)) if webhooks else []
    cut = len(found) > lookup.MOST_EVENTS or len(deliveries) > lookup.MOST_DELIVERIES
    return Told(webhooks, deliveries[: lookup.MOST_DELIVERIES], cut)


def delivery_rows(told: Told) -> Rows:
    return [
        [
            one.created_at,
            told.webhooks[one.webhook_id].type_name,
            str(one.pk),
            one.get_state_display(),
            one.finished_at,
            str(one.attempts),
        ]
        for one in told.deliveries
    ]


def scan_columns() -> list[str]:
    return [
        in_zone(gettext("When")),
        gettext("Status"),
        gettext("Description"),
        gettext("Location"),
    ]


def delivery_columns() -> list[str]:
    return [
        in_zone(gettext("When")),
        gettext("Event"),
        "X-Webhook-Id",
        gettext("State"),
        in_zone(gettext("Ended")),
        gettext("Attempts"),
    ]


def pdf_contents(claim: ClaimFacts, language: str) -> dict[str, Any]:
    """Return the claim file's index as data, without the places of its files."""
    return {
        "language": language,
        "creator": "parceldesk",
        "title": gettext("Claim of ticket %(ticket)d") % {"ticket": claim.ticket.pk},
        "facts": [[name, readable(text)] for name, text in cover(claim) if text],
        "sections": [one for one in sections(claim) if one.get("rows") or one.get("messages")],
        "files": [file_contents(one) for one in claim.files],
        "left_out": gettext("Files that are in the ZIP file only"),
    }


def cover(claim: ClaimFacts) -> list[tuple[str, str]]:
    ticket, shipment = claim.ticket, claim.shipment
    reason = ReasonCode.objects.filter(code=ticket.reason_code).first()
    names = {"claimed": gettext("Claimed"), "offered": gettext("Offered"), "paid": gettext("Paid")}
    amounts = [
        (names[name], money_text(amount, ticket.currency))
        for name, amount in ticket.amounts
        if amount is not None and (name == "claimed" or not claim.for_carrier)
    ]
    decided = [
        (gettext("Status"), status_label(ticket.status)),
        (gettext("Reason code"), str(reason or ticket.reason_code)),
        (gettext("Decided"), day_text(ticket.decided_at)),
        (gettext("Claim deadline"), day_text(ticket.filing_due_at)),
    ]
    return [
        (gettext("Company"), ticket.company.name),
        (gettext("Type"), str(ticket.type)),
        *amounts,
        (gettext("Carrier"), ticket.carrier_name or (shipment.carrier_name if shipment else "")),
        (gettext("Tracking number"), shipment.tracking_number if shipment else ""),
        (gettext("Shipped"), day_text(shipment.shipped_at if shipment else None)),
        (gettext("Delivered"), day_text(shipment.delivered_at if shipment else None)),
        (gettext("Opened"), day_text(ticket.created_at)),
        *([] if claim.for_carrier else decided),
        (gettext("Made"), day_text(timezone.now())),
    ]


def day_text(at: datetime | None) -> str:
    return moment_text(at, active_zone(), year=True) if at else ""


def sections(claim: ClaimFacts) -> list[dict[str, Any]]:
    opened = {
        "who": readable(claim.ticket.company.name),
        "at": minute_text(claim.ticket.created_at, active_zone()),
        "text": readable(claim.row["comments"]) or "-",
    }
    said = [
        {
            "who": opened["who"] if one["type"] == "client" else gettext("Support"),
            "at": minute_text(stored_time(one["created_at"]), active_zone()),
            "text": readable(one["description"]),
        }
        for one in claim.row["allComments"]
        if one["type"] == "client" or not claim.for_carrier
    ]
    documents: Rows = [
        [readable(one["key"] or one["field_id"]), readable(one["value"] or "-")]
        for one in claim.row["documents"]
    ]
    names = [gettext("File"), gettext("Kind"), "SHA-256"]
    files: Rows = [[readable(f.name), KINDS[f.media_type].label, f.sha256] for f in claim.files]
    words = gettext("Words of the company") if claim.for_carrier else gettext("Conversation")
    return [
        {"title": in_zone(words), "messages": [opened, *said]},
        table(gettext("Scans of the shipment"), scan_columns(), claim.scans, (3, 3, 5, 4)),
        table(gettext("Documents"), [gettext("Name"), gettext("Value")], documents, (3, 7)),
        table(gettext("Files"), names, files, (5, 1, 7)),
        table(
            gettext("Webhook deliveries"), delivery_columns(), claim.deliveries, (4, 4, 7, 3, 4, 2)
        ),
    ]


def table(title: str, columns: list[str], rows: Rows, widths: tuple[int, ...]) -> dict[str, Any]:
    shown = [[cell_text(cell) for cell in row] for row in rows[:MOST_ROWS]]
    return {"title": title, "columns": columns, "rows": shown, "widths": widths}


def file_contents(file: TicketFile) -> dict[str, Any]:
    return {
        "name": archive_name(file.pk, file.name),
        "type": file.media_type,
        "title": readable(file.name),
        "active": file.active,
        "follows": gettext("The pages of this file follow: {pages}."),
    }


def readable(text: str) -> str:
    """Text as at the desk: controls by their number, no towers of marks; tabs are spaces."""
    lines = text.replace("\t", "    ").replace("\r\n", "\n").replace("\r", "\n")
    return show_controls(legible(lines))


def cell_text(cell: str | datetime | None) -> str:
    return readable(cell) if isinstance(cell, str) else minute_text(cell, active_zone())


def stored_time(text: str) -> datetime:
    """Read a time of the API, which is in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
