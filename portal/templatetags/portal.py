"""Filters of the page's templates: texts of others, and moments."""

from datetime import datetime

from django.template import Library
from django.template.defaultfilters import stringfilter

from core.values.texts import legible
from core.values.zones import active_zone, moment_text

register = Library()
register.filter(stringfilter(legible))


@register.filter
def moment(at: datetime) -> str:
    return moment_text(at, active_zone())
