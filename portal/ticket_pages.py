"""Page of a ticket: what happened, what is asked for, and what its company can do."""

from django.http import HttpResponse

from portal.visitors import VisitorRequest, company_page, render_page


@company_page()
def ticket_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    return render_page(request, "problem.html", {"heading": f"#{ticket_id}", "text": ""})
