"""No query string breaks a list, a report or a file of the desk."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from companies.models import Company
from tests import builders as build
from tickets.models import Ticket

LIST = "/admin/tickets/ticket/"
EXPORT = f"{LIST}export/"
QUERIES = {
    "unknown": "unknown=1",
    "unknown lookup": "unknown__in=",
    "no name": "=&=1",
    "empty": "q=&p=&o=&queue=&status=&type=&company=&agent=&carrier_name=&figure=&at=&oldest=",
    "empty scope": "days=&from=&to=&since=&until=&actor=&act=&company_id=&token=&before=&as=&s=",
    "doubled": "q=a&q=b&status=1&status=2&type=4&type=5&queue=open&queue=mine&p=1&p=2",
    "doubled scope": "days=7&days=30&from=2026-01-01&from=x&company_id=1&company_id=2&before=1",
    "page": "p=x&all=1",
    "page below": "p=-1",
    "page beyond": f"p={'9' * 30}",
    "order": "o=x.y.-1.99&oldest=x&at=x",
    "search": "q=%00%FF%22-",
    "long search": f"q={'9' * 300}",
    "status": f"status=x&type={'9' * 30}&figure=x&queue=x&storm={'9' * 30}&automation=x&at=x,y",
    "type": "type=-1&company=-1&storm=-1&figure=opened-x-y&automation=%00&queue=%00&at=%00",
    "agent NUL": "agent=a%00b",
    "company NUL": "company=a%00b",
    "carrier NUL": "carrier_name=a%00b",
    "carrier": f"carrier_name={'x' * 3000}&agent={'x' * 3000}&company={'x' * 3000}",
    "lookups": "status__exact=x&id__exact=x&active__exact=x&available__exact=2&is_staff__exact=7",
    "dates": "created_at__gte=x&from=2026-13-45&to=0000-00-00&since=x&until=99999-01-01",
    "numbers": f"company_id=x&days={'9' * 30}&token=%00&actor=%00&act=%00",
    "odd digits": "type=%EF%BC%95&company=%D9%A1&p=%EF%BC%92&o=%C2%B2&storm=%C2%B2&status=%D9%A1",
    "odd days": "days=%D9%A3%D9%A0&company_id=%D9%A1&from=%D9%A3&page=%C2%B2",
    "cursor": "before=x-1-1&before=&cursor=x&at=%00&as=json&list=%3F%00",
}
# Run some of each kind here, and all others in CI.
SOME = {"empty", "doubled", "page beyond", "search", "lookups", "odd digits"}


def addresses() -> Iterator[str]:
    for model in sorted(admin.site._registry, key=lambda model: model._meta.label):
        yield reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    yield EXPORT
    for page in ("names/", "views/", "events/", "colleagues/", "new/"):
        yield f"{LIST}{page}"
    for name in ("figures/fairness/", "reports/", "audit/", "audit.csv", "palette/", "live/mine/"):
        yield f"/admin/{name}"
    for name in ("notifications/", "sessions/", "preferences/", "automations/", ""):
        yield f"/admin/{name}"
    for slug in ("overview", "types", "agents", "carriers", "money", "reasons", "x"):
        yield f"/admin/reports/{slug}.csv"
    for slug in ("volume", "types", "agents", "carriers", "fairness", "ages", "x"):
        yield f"/admin/figures/{slug}.csv"
    yield "/admin/webhooks/webhook/sick/"
    yield "/admin/deliveries/replay/new/"


@pytest.fixture
def client_of_all(admin_client: Client, company: Company) -> Client:
    build.ticket(company)
    build.ticket(company, status=2)
    admin_client.raise_request_exception = False
    return admin_client


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(query, id=name, marks=() if name in SOME else pytest.mark.slow)
        for name, query in QUERIES.items()
    ],
)
def test_no_query_string_causes_a_server_error(client_of_all: Client, query: str) -> None:
    broken = []
    for address in addresses():
        answer = client_of_all.get(f"{address}?{query}")
        if answer.streaming:
            b"".join(answer)
        if answer.status_code >= 500:
            broken.append((address, answer.status_code))

    assert broken == []


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("unknown=1", "unknown"),
        ("queue=open&comapny=3&q=a", "comapny"),
        ("status__in=x", "status__in"),
        ("unknown=1&unknown=2", "unknown"),
    ],
)
def test_the_export_names_the_parameter_that_it_does_not_know(
    client_of_all: Client, query: str, name: str
) -> None:
    answer = client_of_all.get(f"{EXPORT}?{query}")

    assert answer.status_code == 400
    assert answer.content.decode() == f"The list has no filter {name}. Nothing was exported."
    # Parameters for sorting, paging and the position in the list are no filters.
    for fine in ("queue=open&o=1&p=2&oldest=1&at=x", "q=a&status=1", ""):
        assert client_of_all.get(f"{EXPORT}?{fine}").status_code == 200


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("reports/overview.csv?from=x", "From: enter a day."),
        ("reports/overview.csv?from=2026-01-01&to=2020-01-01", "From must not be after To."),
        ("reports/types.csv?company=nobody", "Company: there is none of this name."),
        ("audit.csv?since=x", "From: Enter a valid date."),
        ("audit.csv?company_id=x&act=own", "Company ID: Enter a whole number."),
    ],
)
def test_export_names_its_invalid_filter(client_of_all: Client, address: str, message: str) -> None:
    answer = client_of_all.get(f"/admin/{address}")

    assert (answer.status_code, answer.content.decode()) == (400, message)


def test_ticket_opens_although_its_list_is_invalid(client_of_all: Client, company: Company) -> None:
    ticket = Ticket.objects.first()
    assert ticket is not None

    for query in (
        "list=unknown%3D1",
        "list=queue%3Dopen%26unknown%3D1%26status%3Dx",
        "list=agent%3Da%2500",
    ):
        page = client_of_all.get(f"{LIST}{ticket.pk}/change/?{query}")
        assert page.status_code == 200
