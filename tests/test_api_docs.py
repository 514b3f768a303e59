"""docs/api.md and the guides: their calls work as they stand, the tables match the code's."""

import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from config.guides.pages import DOCS, GUIDES
from deliveries.http.answers import Reply
from deliveries.on_demand import sample_delivery
from tests import builders as build
from tests.described import Operation, operations
from tests.files import form, form_part, pdf
from tickets.api.serializers import OpenTicket
from tickets.models import RequestedDocument, TicketType
from tickets.statuses import (
    AGENT_MOVES,
    BLOCKING,
    FOLLOWED_UP_BY_COMMENT,
    MOVES,
    OPEN,
    TERMINAL,
    By,
    Status,
    joined,
    labels,
)
from webhooks.event_types import registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"
PAGES = [PAGE, *sorted((PAGE.parent / "guides").glob("*.md"))]
BLOCKS = [
    block for page in PAGES for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
]
CALLS = [call for block in BLOCKS for call in re.split(r"^(?=curl )", block, flags=re.M)[1:]]
BASE = "http://127.0.0.1:8000"
DEFINITION = """
BASE=$PARCELDESK_URL
AUTH="Authorization: Bearer $PARCELDESK_TOKEN"
JSON="Content-Type: application/json"
"""


def table(first: str) -> list[list[str]]:
    """Return the rows of the table whose first row contains `first`, as cells."""
    text = PAGE.read_text()
    rows = text[text.index(first) :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.parametrize("call", CALLS)
def test_calls_work_as_they_stand(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    reply = Reply(None, 200, None, "", b"", 12, None)
    monkeypatch.setattr(sample_delivery, "send_one", lambda *_, **__: reply)
    ticket = build.ticket(company, type_id=2, status=Status.IN_REVIEW)
    now = timezone.now()
    requested = RequestedDocument.objects.create(ticket=ticket, name="Invoice", created_at=now)
    placeholders = {
        "BASE": BASE,
        "AUTH": "Authorization: kept by the client",
        "JSON": "Content-Type: application/json",
        "TICKET": ticket.pk,
        "PENDING": build.ticket(company, type_id=2).pk,
        "DOCUMENT": requested.pk,
        "SHIPMENT": build.shipment(company).pk,
        "DECLINED": build.ticket(company, type_id=2, status=Status.DECLINED).pk,
        "WEBHOOK": build.webhook(company).pk,
    }
    words = shlex.split(re.sub(r"\$([A-Z]+)", lambda name: str(placeholders[name[1]]), call))
    options = {"-X": "GET", "-d": ""}
    headers, parts = [], []
    rest = iter(words[1:-1])
    for option in rest:
        if option == "-H":
            headers.append(next(rest).split(": ", 1))
        elif option == "-F":
            parts.append(next(rest))
        elif option in options:
            options[option] = next(rest)
    if parts:
        headers.append(["Content-Type", "multipart/form-data; boundary=x"])
        options |= {"-X": "POST", "-d": form(*map(sent_part, parts))}
    method = "POST" if options["-d"] and options["-X"] == "GET" else options["-X"]
    url = urlsplit(words[-1])

    answer = api.generic(
        method,
        f"{url.path}?{url.query}",
        options["-d"],
        content_type=dict(headers).get("Content-Type", "application/octet-stream"),
        headers={name: value for name, value in headers if name == "Idempotency-Key"},
    )

    assert words[-1].startswith(BASE)
    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize("file", GUIDES)
def test_a_page_defines_the_variables_of_its_samples(file: str) -> None:
    """BASE, AUTH and JSON are defined above their first use, on every page in the same way."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", (DOCS / file).read_text(), re.DOTALL | re.MULTILINE)
    before, definition, after = "".join(blocks).partition(DEFINITION)
    used = r"\$\{?(?:BASE|AUTH|JSON|TOKEN)\b"
    assigned = r"\b(?:BASE|AUTH|JSON|TOKEN)="

    assert not re.findall(used, before), "define BASE, AUTH and JSON above their first use"
    assert not re.findall(assigned, before + after.replace(DEFINITION, ""))
    if definition:
        last = before.splitlines()[-1]
        assert re.fullmatch(r"export PARCELDESK_URL=\S+ PARCELDESK_TOKEN=.+", last)


def sent_part(text: str) -> bytes:
    """Convert `name=value` and `name=@file` as curl does."""
    name, _, value = text.partition("=")
    if value.startswith("@"):
        return form_part(name, pdf(), value[1:])
    return form_part(name, value.encode())


def test_tells_every_status_and_what_may_be_asked_for() -> None:
    documented = {int(row[0]): row[1:] for row in table("| id | status |")}

    assert list(documented) == list(Status), (
        "docs/api.md, the table of statuses: a row for each, in the order of tickets/statuses.py"
    )
    for status in Status:
        name, may, where = documented[status]
        sources = MOVES[By.COMPANY].get(status)
        assert name.partition(":")[0] == status.label
        assert (may, where) == (("yes", told_of(sources)) if sources else ("", ""))


def told_of(sources: frozenset[Status]) -> str:
    if sources == OPEN:
        return f"any but {joined(sorted(TERMINAL), 'and')}"
    return joined(sorted(sources), "and")


def test_names_statuses_as_the_table_does() -> None:
    text = " ".join(PAGE.read_text().split())

    for words in (
        f"shipment and type in {joined(labels(BLOCKING), 'or')}.",
        f"`ticket_status_id` ({joined(sorted(MOVES[By.COMPANY]), 'or')})",
        f"A comment on a ticket {joined(labels(FOLLOWED_UP_BY_COMMENT), 'or')} moves it to",
        f"active or resolved ({joined(sorted(TERMINAL), 'and')})",
        f"Agents move an open ticket to {joined(sorted(AGENT_MOVES), 'or')};",
        f"; {joined(sorted(TERMINAL), 'and')} are final",
        f"`ticket_status_id` ({joined(sorted(AGENT_MOVES), 'or')})",
    ):
        assert words in text, f"docs/api.md: say {words!r}"
    trying = (PAGE.parent / "guides" / "trying.md").read_text()
    words = f"`ticket_status_id` is {joined(sorted(AGENT_MOVES), 'or')},"
    assert words in trying, f"docs/guides/trying.md: say {words!r}"


@pytest.mark.django_db
def test_tells_every_ticket_type_and_what_it_needs() -> None:
    fields = {"guide": "`shipment_id`", "credit": "`credit_id`", "legal-credit": "`documents`"}
    documented = {
        (int(id), name, needs)
        for ids, names, needs in table("| id | type |")
        for id, name in zip(ids.split(", "), names.split(", "), strict=True)
    }

    assert documented == {
        (each.pk, each.name, fields[each.reference] if each.reference_required else "nothing")
        for each in TicketType.objects.all()
    }


@pytest.mark.parametrize("name", OpenTicket().fields)
def test_names_every_field_that_opens_a_ticket(name: str) -> None:
    assert f"`{name}`" in PAGE.read_text(), "docs/api.md: a row in the table of what is sent"


def test_tells_every_webhook_type() -> None:
    rows = [(int(row[0]), row[1], row[3]) for row in table("| id | name |")]

    assert rows == [(each.id, each.name, "yes" if each.signed else "no") for each in registry], (
        "docs/api.md, the table of types: a row for each"
    )


@pytest.mark.parametrize("operation", [pytest.param(each, id=str(each)) for each in operations()])
def test_names_every_query_of_an_endpoint(operation: Operation) -> None:
    names = [each["name"] for each in operation.spec.get("parameters", []) if each["in"] == "query"]

    assert [name for name in names if f"`{name}`" not in PAGE.read_text()] == []
