"""List of a company's tickets, with search."""

from django.http import HttpResponse

from portal.visitors import VisitorRequest, company_page, render_page


@company_page()
def tickets_page(request: VisitorRequest) -> HttpResponse:
    return render_page(request, "problem.html", {"heading": "", "text": ""})
