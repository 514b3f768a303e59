"""Pages of a company's webhooks."""

from django.http import HttpResponse

from portal.visitors import VisitorRequest, company_page, render_page


@company_page(scope="webhooks")
def webhooks_page(request: VisitorRequest) -> HttpResponse:
    return render_page(request, "problem.html", {"heading": "", "text": ""})
