"""Tracking statuses in the language of whoever reads them. Events and the API do not translate."""

from django.utils.translation import pgettext

from shipments.statuses import canonical


def tracking_label(status: str) -> str:
    """Translate a status of `locale/others.pot`; any other stays as the feed sent it."""
    known = canonical(status)
    return pgettext("tracking", known)
