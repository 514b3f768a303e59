"""Unchanged responses cost a few bytes, and those without secrets are compressed."""

import gzip
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from core.api import conditional
from tests import builders as build
from tests.described import has_headers, operations
from tests.test_openapi import Stock, routes, stock
from tickets.models import Comment, Ticket
from tickets.statuses import By

__all__ = ["stock"]

PACKED = {"Accept-Encoding": "gzip"}
PUBLIC = ["/schema", "/docs", "/docs/guides", "/docs/guides/webhooks"]


def again(client: Client, address: str, tag: str) -> HttpResponse:
    return client.get(address, headers={"If-None-Match": tag})


@pytest.mark.parametrize(
    "operation", [pytest.param(each, id=str(each)) for each in operations() if each.method == "get"]
)
def test_an_unchanged_answer_is_a_304(stock: Stock, operation: Any) -> None:
    first = stock.send(operation)
    tag = first.get("ETag", "")

    unchanged = stock.send(operation, **{"If-None-Match": f'"other", {tag}'})

    assert ("304" in operation.responses) is ("ETag" in first)
    if str(operation) == "listEvents":
        assert (tag, unchanged.status_code) == ("", 200), "it is signed anew"
        return
    has_headers(unchanged, operation.responses["304"])
    assert "content" not in operation.responses["304"]
    parameters = {each["name"]: each["in"] for each in operation.spec["parameters"]}
    assert parameters["If-None-Match"] == "header"
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged["ETag"] == tag
    assert unchanged["Cache-Control"] == first["Cache-Control"]
    assert set(unchanged["Vary"].split(", ")) >= {"Authorization"}
    assert "RateLimit-Remaining" in unchanged
    assert stock.send(operation, **{"If-None-Match": '"other"'}).status_code == 200


def test_another_company_s_list_and_every_change_have_another_tag(
    api: APIClient, birch_api: APIClient, company: Company, birch: Company
) -> None:
    ticket = build.ticket(company)
    build.ticket(birch)
    one, list_ = f"/company/tickets/{ticket.pk}", "/company/tickets"
    tags = {address: api.get(address)["ETag"] for address in (one, list_)}

    assert birch_api.get(list_)["ETag"] != tags[list_]
    assert again(birch_api, list_, tags[list_]).status_code == 200
    assert again(birch_api, one, tags[one]).status_code == 404
    Comment.objects.create(
        ticket=ticket, by=By.AGENT, text="Done.", status=1, created_at=timezone.now()
    )
    for address, tag in tags.items():
        assert again(api, address, tag).status_code == 200
    assert APIClient().get(one, headers={"If-None-Match": tags[one]}).status_code == 401


def test_a_file_s_address_counts_as_changed_before_it_is_too_old(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = build.ticket(company)
    build.file(company, ticket=ticket)
    start = 1_800_000_000.0
    assert start % conditional.ADDRESSES_RENEWED_SECONDS == 0
    monkeypatch.setattr(conditional.time, "time", lambda: now)

    now = start
    address = f"/company/tickets/{ticket.pk}"
    tag = api.get(address)["ETag"]

    now = start + 1799
    assert again(api, address, tag).status_code == 304
    now = start + 1801
    assert again(api, address, tag).status_code == 200


def test_a_text_that_looks_like_an_address_is_not_taken_for_one() -> None:
    rows = [{"data": f'{{"url": "{n}", "file_url": "{n}"}}'} for n in "ab"]
    webhooks = [{"url": f"https://a.example/files/{n}"} for n in "ab"]

    for one, other in (rows, webhooks):
        assert conditional.weak_tag(one, 0) != conditional.weak_tag(other, 0)


def test_lists_and_tickets_are_compressed_if_asked(api: APIClient, company: Company) -> None:
    for _ in range(30):
        build.ticket(company, comments="The box is crushed.")
    one = f"/company/tickets/{Ticket.objects.latest('pk').pk}"

    for address in ("/company/tickets", one, "/tickets/types", "/webhook-types"):
        plain, packed = api.get(address), api.get(address, headers=PACKED)

        assert "Content-Encoding" not in plain
        assert packed["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.content) == plain.content
        assert {"Authorization", "Accept-Encoding"} <= set(packed["Vary"].split(", "))
        assert packed["ETag"] == plain["ETag"]
    listed = api.get("/company/tickets", headers=PACKED)
    assert len(listed.content) * 5 < len(gzip.decompress(listed.content))


def test_nothing_that_holds_a_secret_may_be_compressed() -> None:
    """Refuse compression: the length would leak what stands next to a text that a caller chose."""
    views = {str(path): view for path, view in routes(get_resolver().url_patterns, "/")}
    compressed = [path for path, view in views.items() if getattr(view, "compressible", False)]

    assert "/company/tickets" in compressed
    of_webhooks = [each for each in compressed if each.startswith(("/webhooks", "/deliveries"))]
    assert of_webhooks == ["/webhooks/<id:webhook_id>/deliveries"]


def test_an_answer_with_a_secret_is_as_long_as_it_is(api: APIClient) -> None:
    key = {"Idempotency-Key": "one", **PACKED}
    body = {"url": "https://hooks.example.com/" + "a" * 500}

    created = [api.post("/webhooks", body, headers=key) for _ in range(2)]
    webhook = created[0].json()["data"]["id"]
    rotated = api.post(f"/webhooks/{webhook}/secret", headers=PACKED)
    listed = api.get("/webhooks", headers=PACKED)

    for answer in (*created, rotated, listed):
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer


@pytest.mark.parametrize("address", PUBLIC)
def test_public_documents_are_compressed_and_rendered_once(
    client: Client, db: None, address: str
) -> None:
    plain, packed = client.get(address), client.get(address, headers=PACKED)

    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content)
    assert "Accept-Encoding" in packed["Vary"]
    for first in (plain, packed):
        unchanged = again(client, address, first["ETag"])
        assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert again(client, address, '"other"').status_code == 200


def test_the_tag_of_an_answer_lasts_as_long_as_the_answer(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    tag = api.get("/company/tickets")["ETag"]
    Ticket.objects.filter(pk=ticket.pk).update(updated_at=timezone.now() + timedelta(seconds=9))

    assert again(api, "/company/tickets", tag).status_code == 200
    assert again(api, "/company/tickets?limit=1", tag).status_code == 200
