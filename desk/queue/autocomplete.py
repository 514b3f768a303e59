"""Names for what somebody has begun to type: the choices of the list's filters."""

from django.db import connection
from django.http import Http404, HttpRequest, JsonResponse

from core.data.reading_order import reading_key
from desk.common.pages import VIEW_TICKET, desk_page
from desk.common.search_names import agents_like, companies_like

MOST = 10
# Looks at one entry of the index for each name that it offers.
CARRIERS = """
WITH RECURSIVE name AS (
  (SELECT carrier_name FROM tickets_ticket WHERE carrier_name >= %s AND carrier_name <> ''
   ORDER BY carrier_name LIMIT 1)
  UNION ALL
  SELECT (SELECT carrier_name FROM tickets_ticket WHERE carrier_name > name.carrier_name
          ORDER BY carrier_name LIMIT 1)
  FROM name WHERE name.carrier_name IS NOT NULL
)
SELECT carrier_name FROM name WHERE carrier_name IS NOT NULL LIMIT %s
"""
FIRST_COMPANIES = """
SELECT name FROM companies_company ORDER BY reading_order(name) COLLATE "C" LIMIT %s
"""
FIRST_AGENTS = """
SELECT person.username FROM tickets_agent agent JOIN auth_user person ON person.id = agent.user_id
ORDER BY reading_order(person.username) COLLATE "C" LIMIT %s
"""


def fetch_names(statement: str, *given: str | int) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return [name for (name,) in cursor.fetchall()]


def carrier_names(begin: str) -> list[str]:
    return sorted(fetch_names(CARRIERS, begin, MOST), key=reading_key)


def company_names(begin: str) -> list[str]:
    """Any part of a name will do, without its accents."""
    return (
        [one.name for one in companies_like(begin, MOST)]
        if begin
        else fetch_names(FIRST_COMPANIES, MOST)
    )


def agent_logins(begin: str) -> list[str]:
    """By login, first or last name; what is offered is the login."""
    return (
        [one.name for one in agents_like(begin, MOST)] if begin else fetch_names(FIRST_AGENTS, MOST)
    )


ASKED = {"agent": agent_logins, "company": company_names, "carrier": carrier_names}


@desk_page(VIEW_TICKET)
def names_page(request: HttpRequest) -> JsonResponse:
    what = request.GET.get("what", "")
    if what not in ASKED:
        raise Http404
    begin = request.GET.get("begin", "").replace("\x00", "")[:100]
    return JsonResponse({"names": ASKED[what](begin)})
