"""Lists sort names as readers expect, whatever the collation of the database."""

import unicodedata
from typing import Any

import pytest
from django.test import Client

from companies.models import Company
from core.data.reading_order import ReadingOrder, reading_key
from desk.common.search_names import search_companies
from desk.models import Macro, SavedView
from desk.queue.autocomplete import agent_logins, carrier_names, company_names
from desk.reports.counting import Scope
from desk.reports.figure_tables import tables
from desk.reports.figures import count_figures_of, days_up_to_today
from desk.ticket.macros import macros_for
from tests import builders as build
from tests.plans import offer_only
from tickets.changes import mentions
from tickets.models import Calendar, FilingRule, RequiredDocument
from tickets.models.carriers import some_carriers

# The order that readers of Spanish and English expect.
IN_ORDER = [
    "Álamo",
    "alfa",
    "Beta",
    "beta dos",
    "Côte",
    "Łódź",
    "naranja",
    "nzuri",
    "Ñandú",
    "ñu",
    "Ørsted",
    "Oslo",
    "straße",
    "Strasse B",
    "Újpest",
    "zeta",
    "ΑΘΗΝΑΣ",
    "東京",
]
# Sort by code point, as a database without a collation would.
MIXED = sorted(IN_ORDER)
LOGINS = ["álamo", "Alfa", "beta", "Ñandú", "zeta"]


def names_of(rows: Any) -> list[str]:
    return [row.name for row in rows]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_python_and_the_database_sort_alike(db: None, form: str) -> None:
    names = [unicodedata.normalize(form, name) for name in IN_ORDER]  # type: ignore[arg-type]
    for name in sorted(names):
        Macro.objects.create(name=name, text="x")

    assert sorted(names, key=reading_key) == names
    assert names_of(Macro.objects.order_by(ReadingOrder("name"))) == names


def test_companies_stand_in_reading_order(operator: Client) -> None:
    for name in MIXED:
        build.company(name)

    assert company_names("") == IN_ORDER[:10]
    assert [one.name for one in search_companies("a")] == ["Álamo", "alfa"]
    answer = operator.get("/admin/companies/company/", {"o": "0"})
    assert [one.name for one in answer.context_data["cl"].result_list] == IN_ORDER


def test_sorting_companies_by_name_takes_an_index(company: Company) -> None:
    offer_only("company_by_name")

    plan = Company.objects.order_by(ReadingOrder("name"))[:10].explain()

    assert "company_by_name" in plan
    assert "Sort" not in plan


def first_column(slug: str) -> list[str]:
    figures = tables(count_figures_of(Scope(days_up_to_today(7))))
    return [row[0].text for one in figures if one.slug == slug for row in one.rows]


def test_agents_stand_in_reading_order(db: None, company: Company) -> None:
    for login in sorted(LOGINS):
        build.ticket(company, agent=build.agent(login))

    assert agent_logins("") == LOGINS
    assert [one.username for one in mentions.colleagues()] == LOGINS
    assert first_column("agents") == LOGINS


def test_macros_views_calendars_and_rules_stand_in_reading_order(company: Company) -> None:
    user = build.agent("ada").user
    ticket = build.ticket(company)
    for name in MIXED:
        Macro.objects.create(name=name, text="x")
        SavedView.objects.create(name=name, owner=user, query="")
        Calendar.objects.create(name=f"{name} 2")
        FilingRule.objects.create(carrier_name=name, type_id=5, days=3)
        RequiredDocument.objects.create(carrier_name=name, type_id=5, name="x")

    assert names_of(Macro.objects.all()) == names_of(macros_for(ticket)) == IN_ORDER
    assert names_of(SavedView.objects.all()) == IN_ORDER
    assert names_of(Calendar.objects.filter(name__endswith=" 2")) == [
        f"{one} 2" for one in IN_ORDER
    ]
    for rows in (FilingRule.objects.filter(days=3), RequiredDocument.objects.filter(name="x")):
        assert [one.carrier_name for one in rows] == IN_ORDER


def test_carriers_stand_in_reading_order(company: Company) -> None:
    carriers = ["Álamo", "alfa", "Beta", "Ñandú", "zeta"]
    for name in sorted(carriers):
        build.ticket(company, carrier_name=name)

    assert carrier_names("") == some_carriers(10) == carriers
    assert first_column("carriers") == carriers
