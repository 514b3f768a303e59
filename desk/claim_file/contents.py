"""Contents of a claim file: only what the company itself may see of its ticket.

The carrier's copy also leaves out what is between the company and us: our decision and deadline,
our offer and messages, and the deliveries. Texts are in the active language, times in the active
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
# Rows of a table in the PDF, the newest ones; the CSV files have all.
MOST_ROWS = 200
# Pages of comments, at most 500 or 4 MiB each.
MOST_PAGES = 5

Rows = list[list[str | datetime | None]]


class ClaimFacts(NamedTuple):
    """Data of a claim, read once for the PDF, the CSV tables and the JSON."""

    ticket: Ticket
    shipment: Shipment | None
    scans: Rows
    deliveries: Rows
    files: list[TicketFile]
    # The ticket as the API shows it to the company.
    row: dict[str, Any]
    for_carrier: bool


def read_claim(ticket: Ticket, *, for_carrier: bool = False) -> ClaimFacts:
    shipment = own_shipment(ticket)
    row = describe_ticket(ticket.company, ticket.pk, with_comments=True, base="")
    row["allComments"] = read_conversation(ticket.company, ticket.pk, MOST_PAGES)
    files = list(ticket.files.filter(public=True))
    for entry, file in zip(row["files"], files, strict=True):
        del entry["url"]
        entry |= {"file": f"files/{archive_name(file.pk, file.name)}", "sha256": file.sha256}
    deliveries = [] if for_carrier else delivery_rows(shipment_deliveries(shipment))
    return ClaimFacts(ticket, shipment, scans_of(shipment), deliveries, files, row, for_carrier)


def own_shipment(ticket: Ticket) -> Shipment | None:
    own = Shipment.objects.filter(company=ticket.company_id, pk=ticket.shipment_id or 0)
    return own.first()


def scans_of(shipment: Shipment | None) -> Rows:
    if shipment is None:
        return []
    columns = ("occurred_at", "status", "status_description", "location")
    newest = TrackingUpdate.objects.filter(shipment=shipment).order_by("-occurred_at")
    rows = newest.values_list(*columns)[:MOST_SCANS]
    return [[at, tracking_label(status), *rest] for at, status, *rest in rows]


class ShipmentDeliveries(NamedTuple):
    """Deliveries about a shipment to the company's webhooks, newest first; `cut` if not all."""

    webhooks: dict[int, Webhook]
    deliveries: list[Delivery]
    cut: bool


def shipment_deliveries(shipment: Shipment | None) -> ShipmentDeliveries:
    if shipment is None:
        return ShipmentDeliveries({}, [], cut=False)
    webhooks = {webhook.pk: webhook for webhook in lookup.webhooks_of(shipment.company)}
    newest = lookup.events_of(shipment.tracking_number, shipment.company)
    # Events of tickets have messages between us and the company, which are not for a carrier.
    events = [event for event in newest if event.ticket_id is None][: lookup.MOST_EVENTS]
    deliveries = lookup.deliveries_of(events, list(webhooks)) if webhooks else []
    cut = len(newest) > lookup.MOST_EVENTS or len(deliveries) > lookup.MOST_DELIVERIES
    return ShipmentDeliveries(webhooks, deliveries[: lookup.MOST_DELIVERIES], cut)


def delivery_rows(selection: ShipmentDeliveries) -> Rows:
    return [
        [
            delivery.created_at,
            selection.webhooks[delivery.webhook_id].type_name,
            str(delivery.pk),
            delivery.get_state_display(),
            delivery.finished_at,
            str(delivery.attempts),
        ]
        for delivery in selection.deliveries
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
    """Return the claim file's contents as data, without the paths of its files."""
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
    first = {
        "who": readable(claim.ticket.company.name),
        "at": minute_text(claim.ticket.created_at, active_zone()),
        "text": readable(claim.row["comments"]) or "-",
    }
    messages = [
        {
            "who": first["who"] if one["type"] == "client" else gettext("Support"),
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
        {"title": in_zone(words), "messages": [first, *messages]},
        table(gettext("Scans of the shipment"), scan_columns(), claim.scans, (3, 3, 5, 4)),
        table(gettext("Documents"), [gettext("Name"), gettext("Value")], documents, (3, 7)),
        table(gettext("Files"), names, files, (5, 1, 7)),
        table(
            gettext("Webhook deliveries"), delivery_columns(), claim.deliveries, (4, 4, 7, 3, 4, 2)
        ),
    ]


def table(title: str, columns: list[str], rows: Rows, widths: tuple[int, ...]) -> dict[str, Any]:
    texts = [[cell_text(cell) for cell in row] for row in rows[:MOST_ROWS]]
    return {"title": title, "columns": columns, "rows": texts, "widths": widths}


def file_contents(file: TicketFile) -> dict[str, Any]:
    return {
        "name": archive_name(file.pk, file.name),
        "type": file.media_type,
        "title": readable(file.name),
        "active": file.active,
        "follows": gettext("The pages of this file follow: {pages}."),
    }


def readable(text: str) -> str:
    """Make a text safe to print: control characters by number, no stacked marks, tabs as spaces."""
    lines = text.replace("\t", "    ").replace("\r\n", "\n").replace("\r", "\n")
    return show_controls(legible(lines))


def cell_text(cell: str | datetime | None) -> str:
    return readable(cell) if isinstance(cell, str) else minute_text(cell, active_zone())


def stored_time(text: str) -> datetime:
    """Parse a time of the API, which is in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
