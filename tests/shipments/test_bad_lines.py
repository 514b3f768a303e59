import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from companies.models import Company
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tests.shipments.feeding import (
    ORDER,
    Fed,
    counts,
    incidence,
    ingest,
    shipment,
    surcharge,
    tracking,
)

Feed = Callable[..., Fed]

CARRIAGE_RETURNS = "lines end with carriage returns alone; end each with a line feed (U+000A)"
NOT_JSON = "the line is not valid JSON: "
ID = "send an integer from 1 to 2^63-1"
TIME = "send an ISO 8601 time such as 2026-01-02T15:04:05Z"
WHEN = "send a time from 2000-01-01 to a day from now"
BAD_BYTES = [
    (b"{", f"{NOT_JSON}it ends where a name in double quotes should stand at line 1 column 2"),
    (
        b'{"kind":"tracking"',
        f"{NOT_JSON}it ends where a comma or a closing bracket should stand at line 1 column 19",
    ),
    (b'{"a":1}\xef\xbb\xbf', f"{NOT_JSON}there is a byte order mark (U+FEFF) at line 1 column 8"),
    (
        b'\xef\xbb\xbf{"a":1}',
        f"{NOT_JSON}it begins with a byte order mark, at line 1 column 1; send it without one",
    ),
    (b'{"a":1}\r{"a":2}\r', CARRIAGE_RETURNS),
    (b'{"a":1}\r' * 20_000, CARRIAGE_RETURNS),
    (
        "{\u201ca\u201d:1}".encode(),
        f"{NOT_JSON}there is a typographic quotation mark (U+201C) instead of a straight one at"
        " line 1 column 2",
    ),
    (
        b"{'a':1}",
        f"{NOT_JSON}there is a single quotation mark instead of a double one at line 1 column 2",
    ),
    (b'{"a":tru}', f"{NOT_JSON}a value should stand at line 1 column 6"),
    (b'{"a":"x', f"{NOT_JSON}a text has no closing quotation mark: it begins at line 1 column 6"),
    (b"\xff\xfe", "the line is not UTF-8 (byte 1)"),
    (b'{"kind":"tracking","kind":"tracking"}', f"{NOT_JSON}the key 'kind' appears twice"),
    (b'{"a":NaN}', f"{NOT_JSON}NaN is not a JSON number"),
    (b'{"a":"\\u0000"}', f"{NOT_JSON}'\\x00' contains a NUL character"),
    (b'{"a":"\\ud800"}', f"{NOT_JSON}'\\ud800' contains half of a surrogate pair"),
    (b"[" * 1000 + b"]" * 1000, f"{NOT_JSON}it is nested deeper than 10 levels"),
    (b'"' + b"x" * 70_000 + b'"', "the line is longer than 64 KiB"),
    (b'"' + b"x" * 300_000 + b'"', "the line is longer than 64 KiB"),
    (b"[]", "the line is not a JSON object"),
    (b"null", "the line is not a JSON object"),
    (b"{}", "kind: send one of shipment, tracking, surcharge, incidence"),
    (b'{"kind":["tracking"]}', "kind: send one of shipment, tracking, surcharge, incidence"),
    (b'{"kind":"Tracking"}', "kind: send one of shipment, tracking, surcharge, incidence"),
]
BAD_FIELDS: list[tuple[Callable[..., dict], dict[str, Any], str]] = [
    (tracking, {"shipment_id": "5"}, f"shipment_id: {ID}"),
    (tracking, {"shipment_id": True}, f"shipment_id: {ID}"),
    (tracking, {"shipment_id": 5.0}, f"shipment_id: {ID}"),
    (tracking, {"shipment_id": 0}, f"shipment_id: {ID}"),
    (tracking, {"shipment_id": 2**63}, f"shipment_id: {ID}"),
    (tracking, {"shipment_id": None}, "shipment_id: missing"),
    (tracking, {"status": None}, "status: missing"),
    (tracking, {"status": " "}, "status: is blank"),
    (tracking, {"status": 3}, "status: send a string"),
    (tracking, {"status": "x" * 101}, "status: longer than 100 characters"),
    (tracking, {"location": "x" * 301}, "location: longer than 300 characters"),
    (tracking, {"status_description": ["x"]}, "status_description: send a string"),
    (tracking, {"occurred_at": "yesterday"}, f"occurred_at: {TIME}"),
    (tracking, {"occurred_at": 1767312000}, f"occurred_at: {TIME}"),
    (tracking, {"occurred_at": "0001-01-01T00:00:00+10:00"}, f"occurred_at: {TIME}"),
    (tracking, {"occurred_at": "9999-12-31T23:30:00Z"}, f"occurred_at: {WHEN}"),
    (tracking, {"occurred_at": "1999-12-31T23:59:59Z"}, f"occurred_at: {WHEN}"),
    (shipment, {"occurred_at": "0001-01-02T00:00:00Z"}, f"occurred_at: {WHEN}"),
    (surcharge, {"occurred_at": "2999-01-01T00:00:00Z"}, f"occurred_at: {WHEN}"),
    (incidence, {"occurred_at": "2999-01-01T00:00:00Z"}, f"occurred_at: {WHEN}"),
    (tracking, {"lokation": "Lima"}, "lokation: not a field of tracking"),
    (tracking, {"status": 3, "order": ORDER}, "status: send a string; order: not a field of track"),
    (surcharge, {"amount": None, "currency": None}, "amount: missing; currency: missing"),
    (shipment, {"company_id": "1"}, f"company_id: {ID}"),
    (shipment, {"tracking_number": ""}, "tracking_number: is blank"),
    (shipment, {"carrier_name": None}, "carrier_name: missing"),
    (shipment, {"carrier_id": -1}, f"carrier_id: {ID}"),
    (shipment, {"order": {"shop_id": 1}}, "order: send an object of shop_id, order_identifier"),
    (shipment, {"order": {**ORDER, "x": 1}}, "order: send an object of shop_id, order_identifier"),
    (shipment, {"order": {**ORDER, "shop_id": 1.5}}, "order: shop_id: send a string of at most"),
    (shipment, {"order": []}, "order: send an object of shop_id, order_identifier"),
    (surcharge, {"amount": "12.5"}, "amount: send a number"),
    (surcharge, {"amount": True}, "amount: send a number"),
    (surcharge, {"amount": 0}, "amount: send a number above 0 and below 10^10"),
    (surcharge, {"amount": -5}, "amount: send a number above 0 and below 10^10"),
    (surcharge, {"amount": 10**10}, "amount: send a number above 0 and below 10^10"),
    (surcharge, {"amount": 0.00001}, "amount: more than 4 decimals"),
    (surcharge, {"currency": "mxn"}, "currency: send an ISO 4217 code such as MXN"),
    (surcharge, {"currency": "PESO"}, "currency: send an ISO 4217 code such as MXN"),
    (surcharge, {"currency": "MXM"}, "currency: send an ISO 4217 code such as MXN"),
    (surcharge, {"transaction_type": "gift"}, "transaction_type: send one of surcharge, refund"),
    (surcharge, {"surcharge_type": None}, "surcharge_type: missing"),
    (tracking, {"occurred_at": "2026-01-02"}, f"occurred_at: {TIME}"),
    (tracking, {"occurred_at": "20260102"}, f"occurred_at: {TIME}"),
    (tracking, {"occurred_at": "2026-W48-3"}, f"occurred_at: {TIME}"),
    (tracking, {"occurred_at": "2026-W48-3T10:00:00Z"}, f"occurred_at: {TIME}"),
    (incidence, {"open": 1}, "open: send true or false"),
    (incidence, {"incidence_kind": "x" * 51}, "incidence_kind: longer than 50 characters"),
]
GOOD = {
    shipment: lambda company: shipment(5, company.pk),
    tracking: lambda _: tracking(5, "Lost"),
    surcharge: lambda _: surcharge(1, 5),
    incidence: lambda _: incidence(8, 5),
}


def nothing_but_the_shipment() -> bool:
    return not any(table.objects.exists() for table in (TrackingUpdate, Surcharge, Incidence))


@pytest.mark.parametrize(("line", "reason"), BAD_BYTES)
def test_refuses_a_malformed_line(company: Company, feed: Feed, line: bytes, reason: str) -> None:
    fed = feed(shipment(5, company.pk), b"", line, tracking(5, "Shipped"))

    assert fed.reasons == [f"line 3: {reason}"]
    assert fed.counts == counts(read=3, changed=2, events=1, bad=1)
    assert str(fed.failure) == "1 of 3 lines were bad."
    assert fed.failure.returncode == 1


@pytest.mark.parametrize(("kind", "change", "reason"), BAD_FIELDS)
def test_refuses_a_wrong_field_by_its_name(
    company: Company,
    feed: Feed,
    kind: Callable[..., dict],
    change: dict[str, Any],
    reason: str,
) -> None:
    fed = feed(shipment(5, company.pk), {**GOOD[kind](company), **change})

    assert len(fed.reasons) == 1
    assert fed.reasons[0].startswith(f"line 2: {reason}")
    assert fed.counts == counts(read=2, changed=1, bad=1)
    assert nothing_but_the_shipment()


def test_takes_times_from_2000_to_a_day_from_now(company: Company, feed: Feed) -> None:
    tomorrow = datetime.now(UTC) + timedelta(hours=23)

    fed = feed(
        shipment(5, company.pk, occurred_at="2000-01-01T00:00:00Z"),
        tracking(5, "Lost", occurred_at=tomorrow.isoformat()),
    )

    assert fed == (counts(read=2, changed=2, events=1), [], None)


def test_refuses_what_names_no_company_or_shipment(company: Company, feed: Feed) -> None:
    fed = feed(
        shipment(5, 999),
        tracking(5, "Lost"),
        surcharge(1, 5),
        incidence(8, 5),
        shipment(5, company.pk),
        tracking(5, "Lost"),
    )

    assert fed.reasons == [
        "line 1: company_id: there is no company 999",
        "line 2: shipment_id: there is no shipment 5",
        "line 3: shipment_id: there is no shipment 5",
        "line 4: shipment_id: there is no shipment 5",
    ]
    assert fed.counts == counts(read=6, changed=2, events=1, bad=4)


def test_refuses_to_give_a_shipment_to_another_company(
    company: Company, birch: Company, feed: Feed
) -> None:
    fed = feed(shipment(5, company.pk), shipment(5, birch.pk, carrier_name="other"))

    assert fed.reasons == [f"line 2: company_id: shipment 5 is company {company.pk}'s"]
    stored = Shipment.objects.get(pk=5)
    assert (stored.company, stored.carrier_name) == (company, "acme")


def test_refuses_a_surcharge_that_says_something_else_later(company: Company, feed: Feed) -> None:
    build.webhook(company, 5)
    fed = feed(
        shipment(5, company.pk),
        shipment(6, company.pk),
        surcharge(1, 5),
        surcharge(1, 5, amount=13, currency="USD"),
        surcharge(1, 6),
        surcharge(1, 5, amount=12.50, reason=""),
    )
    later = feed(surcharge(1, 5, reason="Scale"))

    end = "surcharge 1 is known with different content; amounts are never corrected in place"
    assert fed.reasons == [f"line 4: amount, currency: {end}", f"line 5: shipment_id: {end}"]
    assert fed.counts == counts(read=6, changed=3, events=1, bad=2, known=1)
    assert later.reasons == [f"line 1: reason: {end}"]
    assert Surcharge.objects.get().reason == ""


def test_refuses_to_move_an_incidence_to_another_shipment(company: Company, feed: Feed) -> None:
    fed = feed(shipment(5, company.pk), shipment(6, company.pk), incidence(8, 5), incidence(8, 6))

    assert fed.reasons == ["line 4: shipment_id: incidence 8 is of shipment 5"]
    assert Incidence.objects.get().shipment_id == 5


def test_names_every_wrong_field_but_no_more_than_one_can_read(
    company: Company, feed: Feed
) -> None:
    fed = feed(dict.fromkeys(map(str, range(1000)), 1) | {"kind": "tracking"})

    assert fed.reasons[0].count("not a field of tracking") == 10


def test_takes_nulls_for_fields_left_out_and_spaces_around_a_line(
    company: Company, feed: Feed
) -> None:
    line = json.dumps(tracking(5, "Lost", location=None, occurred_at=None)).encode()

    fed = feed(
        b"\xef\xbb\xbf" + json.dumps(shipment(5, company.pk, order=None)).encode(),
        b"  " + line + b" \r",
        tracking(5, "Lost"),
    )

    assert fed == (counts(read=3, changed=2, events=1, known=1), [], None)


def test_a_file_may_end_without_a_newline_but_not_within_a_line(
    company: Company, feed: Feed, tmp_path: Path
) -> None:
    feed(shipment(5, company.pk))
    line = json.dumps(tracking(5, "Lost")).encode()

    (tmp_path / "cut").write_bytes(line[:20])
    (tmp_path / "whole").write_bytes(line)

    assert ingest(tmp_path / "cut").counts == counts(read=1, changed=0, bad=1)
    assert ingest(tmp_path / "whole").counts == counts(read=1, changed=1, events=1)
