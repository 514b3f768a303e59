"""Names that begin as somebody has begun to type: the choices of the list's filters."""

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404, HttpRequest, JsonResponse
from django.urls import URLPattern, path

from desk.common.admin_base import ModelAdmin
from desk.queue.search import like

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
COMPANIES = """
SELECT name FROM companies_company WHERE upper(name) LIKE upper(%s) ORDER BY name LIMIT %s
"""
AGENTS = """
SELECT person.username FROM tickets_agent agent JOIN auth_user person ON person.id = agent.user_id
WHERE person.username LIKE %s ORDER BY person.username LIMIT %s
"""
ASKED = {"agent": AGENTS, "company": COMPANIES, "carrier": CARRIERS}


class AutocompletePages(ModelAdmin):
    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.names_page)
        return [path("names/", page, name="tickets_ticket_names"), *super().get_urls()]

    def names_page(self, request: HttpRequest) -> JsonResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        what = request.GET.get("what", "")
        if what not in ASKED:
            raise Http404
        begin = request.GET.get("begin", "").replace("\x00", "")[:100]
        with connection.cursor() as cursor:
            cursor.execute(ASKED[what], [begin if what == "carrier" else like(begin), MOST])
            names = [name for (name,) in cursor.fetchall()]
        return JsonResponse({"names": names})
