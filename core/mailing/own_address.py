"""The service's own address, for links in emails."""

from django.conf import settings


def own_address() -> str:
    """Return PUBLIC_URL, else the first of ALLOWED_HOSTS with a name; empty if there is neither."""
    named = [host for host in settings.ALLOWED_HOSTS if not host.startswith((".", "*"))]
    if settings.PUBLIC_URL or not named:
        return str(settings.PUBLIC_URL)
    return f"{'https' if settings.HTTPS else 'http'}://{named[0]}"
