"""Check of `doctor`: the provider of sign-on answers."""

from importlib import import_module

from django.conf import settings

from core.watch.doctor import register
from desk.people.sign_on import TIMEOUT_SECONDS

PROVIDER = "desk.people.sign_on.provider"


@register(
    "Correct OIDC_ISSUER, or see to the provider and the way there: docs/operations/people.md.",
    name="sign_on",
    per_host=True,
    # Two calls, each with the timeout of a sign-in.
    seconds=2 * TIMEOUT_SECONDS + 2,
)
def provider_answers() -> str:
    """Fetch the provider's metadata and keys. Raises RuntimeError if it has no keys."""
    if not settings.OIDC_ISSUER:
        return "off"
    # Imported late: workers run this check every minute, and the client takes 0.15 s to load.
    key_set = import_module(PROVIDER).discover_client(settings.OIDC_ISSUER).fetch_jwk_set()
    keys = key_set.get("keys") if isinstance(key_set, dict) else None
    if not keys:
        raise RuntimeError(f"{settings.OIDC_ISSUER} shows no keys")
    return f"{settings.OIDC_ISSUER} answers, with {len(keys)} keys"
