"""Lookup of a caller's company and shipment."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from companies.models import Company
from core.data.reading_order import ReadingOrder
from core.values.spellings import same_text, typed_id
from desk.common.search_names import search_companies
from portal.opening_form import own_shipment

MOST_OFFERED = 5


def find_company(text: str) -> Company:
    """Find a company by full name, in any case, or id. Raises ValidationError with likely ones."""
    name = text.strip()
    exact = list(Company.objects.filter(same_text("name", name)).order_by("pk")[: MOST_OFFERED + 1])
    if not exact:
        exact = list(Company.objects.filter(pk=typed_id(name) or 0))
    if len(exact) == 1:
        return require_active(exact[0])
    likely = exact or likely_companies(name)
    if len(likely) == 1:
        raise ValidationError(
            gettext("Is it %(company)s? If so, send the form again.") % {"company": likely[0].name},
            code="likely",
            params={"company": likely[0].name},
        )
    offered = ", ".join(f"{one.name} ({one.pk})" for one in likely[:MOST_OFFERED])
    if not offered:
        raise ValidationError(
            gettext("There is no company named %(name)s.") % {"name": name}, code="unknown"
        )
    raise ValidationError(
        gettext("Which company? Enter its full name or ID: %(companies)s.")
        % {"companies": offered},
        code="several",
    )


def likely_companies(text: str) -> list[Company]:
    """Find active companies by words of their names or parts of words, like search."""
    ids = [one.id for one in search_companies(text)]
    return list(Company.objects.filter(pk__in=ids, active=True).order_by(ReadingOrder("name")))


def whole_name(text: str) -> str:
    """Return the name of the only likely company, else the text unchanged."""
    try:
        find_company(text)
    except ValidationError as error:
        params = error.params if error.code == "likely" else None
        return str(params["company"]) if params else text
    return text


def require_active(company: Company) -> Company:
    if not company.active:
        raise ValidationError(
            gettext("%(company)s is not active. No tickets can be opened for it.")
            % {"company": company.name},
            code="inactive",
        )
    return company


def shipment_of_caller(company: Company, text: str) -> int:
    """Return a shipment's id by a tracking number of the company, or by any id (decision T12).

    Raises ValidationError.
    """
    number = text.strip()
    if (own_id := own_shipment(company, number)) is not None:
        return own_id
    if (shipment_id := typed_id(number)) is not None:
        return shipment_id
    raise ValidationError(
        gettext("%(company)s has no shipment with the tracking number %(number)s.")
        % {"company": company.name, "number": number},
        code="unknown",
    )
