"""Check of `doctor`: emails can have links to the company's page."""

from django.conf import settings

from core.mailing.own_address import own_address
from core.watch.doctor import Concern, register


@register("Set PUBLIC_URL to the service's address, or COMPANY_PAGE=false.", per_host=True)
def company_page() -> str:
    if not settings.COMPANY_PAGE:
        return "off"
    if address := own_address():
        return f"links in emails lead to {address}"
    if settings.EMAIL_BACKEND.endswith(".console.EmailBackend"):
        return "emails are printed, and have no links"
    raise Concern("emails about tickets have no link, as the service's address is unknown")
