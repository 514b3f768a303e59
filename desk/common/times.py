"""How the desk writes times and distances, in the language and the zone of whoever reads them."""

from django.utils.translation import gettext


def distance(seconds: float) -> str:
    """In the largest whole unit: 50 s, 12 min, 3 h, 2 d."""
    if seconds >= 86_400:
        return gettext("%(days)d d") % {"days": seconds // 86_400}
    if seconds >= 3_600:
        return gettext("%(hours)d h") % {"hours": seconds // 3_600}
    if seconds >= 60:
        return gettext("%(minutes)d min") % {"minutes": seconds // 60}
    return gettext("%(seconds)d s") % {"seconds": seconds}
