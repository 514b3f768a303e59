"""Translated tracking statuses for the desk. Events and the API do not translate."""

from django.utils.translation import pgettext

from shipments.statuses import canonical


def tracking_label(status: str) -> str:
    """Translate a status of `locale/others.pot`; return any other as the feed sent it."""
    text = canonical(status)
    return pgettext("tracking", text)
