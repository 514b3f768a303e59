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
    # Two calls, each of which may take as long as one at a sign-in.
    seconds=2 * TIMEOUT_SECONDS + 2,
)
def provider_answers() -> str:
    """Its description of itself and its keys can be read."""
    if not settings.OIDC_ISSUER:
        return "off"
    # Workers run this each minute: what speaks with a provider takes 0.15 s to load.
    said = import_module(PROVIDER).discovered(settings.OIDC_ISSUER).fetch_jwk_set()
    keys = said.get("keys") if isinstance(said, dict) else None
    if not keys:
        raise RuntimeError(f"{settings.OIDC_ISSUER} shows no keys")
    return f"{settings.OIDC_ISSUER} answers, with {len(keys)} keys"
