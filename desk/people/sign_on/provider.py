"""Client of the provider in OIDC_ISSUER; trusts only what is signed by the provider's keys.

Authlib implements OpenID Connect; this module adds limits and refusals. Why: decision page
desk-sign-on-is-bound-to-the-subject.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import BaseApp
from authlib.integrations.base_client.sync_app import OAuth2Mixin
from authlib.integrations.base_client.sync_openid import OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session
from django.conf import settings
from joserfc.errors import JoseError

from desk.people.sign_on import TIMEOUT_SECONDS

logger = logging.getLogger(__name__)

# The requests library honours HTTPS_PROXY and REQUESTS_CA_BUNDLE for these calls.

# Threads of a process that may wait for the provider at a time, so that the others stay free.
AT_ONCE = 2
METADATA_SECONDS = 3600
# After a failure no call is made for this long.
PAUSE_SECONDS = 10
CLOCK_SKEW_SECONDS = 60
ALGORITHMS = ("RS256", "ES256")
SCOPE = "openid email profile"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ProviderAway(Exception):
    """The provider is unreachable, has too many waiting, or its discovery document is invalid."""


class NotTrusted(Exception):
    """Answer of the provider that cannot be verified; the text is safe to log."""


class SignOnRequest(NamedTuple):
    """URL for the browser, and the values to compare when it comes back."""

    url: str
    state: str
    nonce: str
    verifier: str


class ProviderCalls(OAuth2Session):  # type: ignore[misc]
    """Authlib's session with a timeout, and without redirects, which would leak our secret."""

    def request(self, method: str, url: str, **more: Any) -> Any:
        more |= {"timeout": TIMEOUT_SECONDS, "allow_redirects": False}
        return super().request(method, url, **more)


class ProviderClient(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]
    client_cls = ProviderCalls


class CachedProvider:
    """Provider's metadata and keys, cached by each process for an hour."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.calls = BoundedSemaphore(AT_ONCE)
        self.forget()

    def forget(self) -> None:
        self.key: tuple[str, ...] = ()
        self.client: ProviderClient | None = None
        self.until = self.away_until = 0.0

    @contextmanager
    def calling(self) -> Iterator[ProviderClient]:
        """Yield the client; calls within fail with ProviderAway or NotTrusted only."""
        if not self.calls.acquire(blocking=False):
            raise ProviderAway("too many wait for the provider")
        try:
            yield self.current()
        except JoseError as error:
            raise NotTrusted(f"the token is refused: {error}") from None
        except AuthlibBaseError as error:
            # The error's description comes from the provider and may repeat our secret.
            raise NotTrusted(f"the provider answered {error.error!r}") from None
        except OSError as error:
            raise ProviderAway(type(error).__name__) from None
        except (ValueError, TypeError, KeyError, AttributeError, RuntimeError) as error:
            raise NotTrusted(f"the answer makes no sense: {type(error).__name__}") from None
        finally:
            self.calls.release()

    def current(self) -> ProviderClient:
        key = (settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)
        with self.lock:
            if key != self.key:
                self.forget()
                self.key = key
            if self.client is not None and self.until > monotonic():
                return self.client
            if self.away_until > monotonic():
                raise ProviderAway("it was away a moment ago")
            self.away_until = monotonic() + PAUSE_SECONDS
            self.client = discover_client(settings.OIDC_ISSUER)
            self.away_until, self.until = 0.0, monotonic() + METADATA_SECONDS
            return self.client


PROVIDER = CachedProvider()


def discover_client(issuer: str) -> ProviderClient:
    """Fetch the discovery document and return a client for it. Raises ProviderAway, OSError."""
    with ProviderCalls() as session:
        url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
        answer = session.request("GET", url, withhold_token=True)
        answer.raise_for_status()
        try:
            metadata = dict(answer.json())
        except ValueError:
            raise ProviderAway("its discovery document is no JSON object") from None
    if metadata.get("issuer") != issuer:
        raise ProviderAway("its discovery document names another issuer than OIDC_ISSUER")
    if not all(is_safe_url(metadata.get(name)) for name in ENDPOINTS):
        raise ProviderAway("its discovery document names addresses without https")
    methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    basic = "client_secret_basic" in methods
    return ProviderClient(
        None,
        "desk",
        client_id=settings.OIDC_CLIENT_ID,
        client_secret=settings.OIDC_CLIENT_SECRET,
        client_kwargs={
            "scope": SCOPE,
            "code_challenge_method": "S256",
            "token_endpoint_auth_method": f"client_secret_{'basic' if basic else 'post'}",
        },
        issuer=issuer,
        # Fixed here: neither the provider nor a token may choose a weaker algorithm.
        id_token_signing_alg_values_supported=list(ALGORITHMS),
        end_session_endpoint=metadata.get("end_session_endpoint"),
        **{name: metadata[name] for name in ENDPOINTS},
    )


def is_safe_url(url: object) -> bool:
    """Tell whether a URL is https, or http on the local machine, as for tests."""
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (
            parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        )
    except ValueError:
        return False


def begin_at_provider(redirect_uri: str) -> SignOnRequest:
    """Return the URL and secrets of a new sign-in. Raises ProviderAway."""
    try:
        with PROVIDER.calling() as client:
            params = client.create_authorization_url(redirect_uri)
    except NotTrusted as error:
        raise ProviderAway(str(error)) from None
    return SignOnRequest(params["url"], params["state"], params["nonce"], params["code_verifier"])


def fetch_claims(code: str, *, verifier: str, nonce: str, redirect_uri: str) -> dict[str, Any]:
    """Exchange a code for the verified claims of the user. Raises ProviderAway, NotTrusted."""
    with PROVIDER.calling() as client:
        token = client.fetch_access_token(
            redirect_uri=redirect_uri, code=code, code_verifier=verifier
        )
        claims = client.parse_id_token(
            token,
            nonce=nonce,
            claims_options={
                "iss": {"essential": True, "value": settings.OIDC_ISSUER},
                "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
            },
            leeway=CLOCK_SKEW_SECONDS,
        )
    if claims is None:
        raise NotTrusted("the provider sent no ID token")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise NotTrusted("the token names no subject")
    return dict(claims)


def sign_out_url(back: str) -> str:
    """Return the provider's sign-out page, "" if it has none. Raises ProviderAway."""
    try:
        with PROVIDER.calling() as client:
            if not is_safe_url(client.server_metadata["end_session_endpoint"]):
                return ""
            sign_out = client.create_logout_url(
                post_logout_redirect_uri=back, client_id=settings.OIDC_CLIENT_ID
            )
            return str(sign_out["url"])
    except NotTrusted as error:
        raise ProviderAway(str(error)) from None
