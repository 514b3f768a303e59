"""What a claim file says: what the company is shown of its ticket, and never more."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext, override

from companies.files.archive_names import archive_name
from companies.files.kinds import KINDS
from companies.money import money_text
from companies.texts import legible, show_controls
from deliveries.models import Delivery, State
from desk.support import lookup
from shipments.models import Shipment, TrackingUpdate
from tickets.api.conversation import read_conversation
from tickets.api.queries import describe_ticket
from tickets.labels import status_label
from tickets.models import ReasonCode, Ticket, TicketFile

MOST_SCANS = 5_000
# Of longer tables the newest are on paper, and all are in the CSV files.
MOST_ROWS = 200
# Pages of comments, at most 500 or 4 MiB each.
MOST_PAGES = 5

Rows = list[list[str]]


class ClaimFacts(NamedTuple):
    """What is read of a claim, once: for the PDF, the tables and the data beside it."""

    ticket: Ticket
    shipment: Shipment | None
    scans: Rows
    deliveries: Rows
    files: list[TicketFile]
    # As the company is shown it.
    row: dict[str, Any]


def read_claim(ticket: Ticket) -> ClaimFacts:
    own = Shipment.objects.filter(company=ticket.company_id, pk=ticket.shipment_id or 0)
    shipment = own.first()
    row = describe_ticket(ticket.company, ticket.pk, with_comments=True, base="")
    row["allComments"] = read_conversation(ticket.company, ticket.pk, MOST_PAGES)
    files = list(ticket.files.filter(public=True))
    for shown, file in zip(row["files"], files, strict=True):
        del shown["url"]
        shown |= {"file": f"files/{archive_name(file.pk, file.name)}", "sha256": file.sha256}
    return ClaimFacts(ticket, shipment, scans_of(shipment), told_deliveries(shipment), files, row)


def scans_of(shipment: Shipment | None) -> Rows:
    if shipment is None:
        return []
    columns = ("occurred_at", "status", "status_description", "location")
    newest = TrackingUpdate.objects.filter(shipment=shipment).order_by("-occurred_at")
    return [[utc_minute(at), *rest] for at, *rest in newest.values_list(*columns)[:MOST_SCANS]]


def told_deliveries(shipment: Shipment | None) -> Rows:
    """What the company's webhooks got about the shipment."""
    if shipment is None:
        return []
    webhooks = {one.pk: one for one in lookup.webhooks_of(shipment.company)}
    events = lookup.events_of(shipment.tracking_number, shipment.company)
    told = [event for event in events if event.ticket_id is None][: lookup.MOST_EVENTS]
    found: Sequence[Delivery] = lookup.deliveries_of(told, list(webhooks)) if webhooks else []
    return [
        [
            utc_minute(one.created_at),
            webhooks[one.webhook_id].type_name,
            str(one.pk),
            State(one.state).label,
            utc_minute(one.finished_at),
            str(one.attempts),
        ]
        for one in found[: lookup.MOST_DELIVERIES]
    ]


def scan_columns() -> list[str]:
    return [gettext("Time (UTC)"), gettext("Status"), gettext("Description"), gettext("Location")]


def delivery_columns() -> list[str]:
    return [
        gettext("Time (UTC)"),
        gettext("Event"),
        "X-Webhook-Id",
        gettext("State"),
        gettext("Ended (UTC)"),
        gettext("Attempts"),
    ]


def pdf_contents(claim: ClaimFacts, language: str) -> dict[str, Any]:
    """What the maker writes, in words of the language, without the files' places."""
    with override(language):
        ticket = claim.ticket
        return {
            "language": language,
            "creator": "parceldesk",
            "title": gettext("Claim of ticket %(ticket)d") % {"ticket": ticket.pk},
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
        if amount is not None
    ]
    return [
        (gettext("Company"), ticket.company.name),
        (gettext("Type"), str(ticket.type)),
        (gettext("Status"), status_label(ticket.status)),
        (gettext("Reason code"), str(reason or ticket.reason_code)),
        *amounts,
        (gettext("Carrier"), ticket.carrier_name or (shipment.carrier_name if shipment else "")),
        (gettext("Tracking number"), shipment.tracking_number if shipment else ""),
        (gettext("Shipped (UTC)"), utc_minute(shipment.shipped_at if shipment else None)),
        (gettext("Delivered (UTC)"), utc_minute(shipment.delivered_at if shipment else None)),
        (gettext("Opened (UTC)"), utc_minute(ticket.created_at)),
        (gettext("Decided (UTC)"), utc_minute(ticket.decided_at)),
        (gettext("Claim deadline (UTC)"), utc_minute(ticket.filing_due_at)),
        (gettext("Made (UTC)"), utc_minute(timezone.now())),
    ]


def sections(claim: ClaimFacts) -> list[dict[str, Any]]:
    opened = {
        "who": readable(claim.ticket.company.name),
        "at": utc_minute(claim.ticket.created_at),
        "text": readable(claim.row["comments"]) or "-",
    }
    said = [
        {
            "who": readable(one["created_by_name"]),
            "at": one["created_at"],
            "text": readable(one["description"]),
        }
        for one in claim.row["allComments"]
    ]
    documents = [
        [readable(one["key"] or one["field_id"]), readable(one["value"] or "-")]
        for one in claim.row["documents"]
    ]
    names = [gettext("File"), gettext("Kind"), "SHA-256"]
    files = [[readable(f.name), KINDS[f.media_type].label, f.sha256] for f in claim.files]
    return [
        {"title": gettext("Conversation (times in UTC)"), "messages": [opened, *said]},
        table(gettext("Scans of the shipment"), scan_columns(), claim.scans, (3, 3, 5, 4)),
        table(gettext("Documents"), [gettext("Name"), gettext("Value")], documents, (3, 7)),
        table(gettext("Files"), names, files, (5, 1, 7)),
        table(
            gettext("Webhook deliveries"), delivery_columns(), claim.deliveries, (4, 4, 7, 3, 4, 2)
        ),
    ]


def table(title: str, columns: list[str], rows: Rows, widths: tuple[int, ...]) -> dict[str, Any]:
    shown = [[readable(cell) for cell in row] for row in rows[:MOST_ROWS]]
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


def utc_minute(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""
