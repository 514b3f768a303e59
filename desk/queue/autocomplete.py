"""Autocompletion of names in the list's filters."""

from django.http import Http404, HttpRequest, JsonResponse

from core.data.reading_order import reading_key
from core.data.statements import distinct_values, read_rows
from desk.common.pages import VIEW_TICKET, desk_page
from desk.common.search_names import search_agents, search_companies

MOST = 10
PREFIX_CONDITION = "carrier_name >= %s AND carrier_name <> ''"
CARRIERS = f"{distinct_values('tickets_ticket', 'carrier_name', PREFIX_CONDITION)} LIMIT %s"
FIRST_COMPANIES = """
SELECT name FROM companies_company ORDER BY reading_order(name) COLLATE "C" LIMIT %s
"""
FIRST_AGENTS = """
SELECT person.username FROM tickets_agent agent JOIN auth_user person ON person.id = agent.user_id
ORDER BY reading_order(person.username) COLLATE "C" LIMIT %s
"""


def fetch_names(statement: str, *parameters: str | int) -> list[str]:
    return [name for (name,) in read_rows(statement, parameters)]


def carrier_names(begin: str) -> list[str]:
    return sorted(fetch_names(CARRIERS, begin, begin, MOST), key=reading_key)


def company_names(begin: str) -> list[str]:
    """Return the companies whose name contains the text, regardless of accents."""
    return (
        [one.name for one in search_companies(begin, MOST)]
        if begin
        else fetch_names(FIRST_COMPANIES, MOST)
    )


def agent_logins(begin: str) -> list[str]:
    """Return the logins of agents whose login, first or last name matches."""
    return (
        [one.name for one in search_agents(begin, MOST)]
        if begin
        else fetch_names(FIRST_AGENTS, MOST)
    )


FINDERS = {"agent": agent_logins, "company": company_names, "carrier": carrier_names}


@desk_page(VIEW_TICKET)
def names_page(request: HttpRequest) -> JsonResponse:
    what = request.GET.get("what", "")
    if what not in FINDERS:
        raise Http404
    begin = request.GET.get("begin", "").replace("\x00", "")[:100]
    return JsonResponse({"names": FINDERS[what](begin)})
