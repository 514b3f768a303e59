"""Pages of single sign-on: to the provider, back from it, and signing out at it."""

import logging

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from core.values.times import whole_seconds
from desk.common.pages import draw
from desk.people.gate import SECOND_FACTOR_GIVEN
from desk.people.sign_on import attempts, identities, provider

logger = logging.getLogger(__name__)

# Sessions store the backend that opened them; every version of the service can load this one.
BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_GET
def begin_sign_on_page(request: HttpRequest) -> HttpResponse:
    try:
        start = provider.begin_at_provider(address_back(request))
    except provider.ProviderAway as error:
        return away_page(request, error)
    response = HttpResponseRedirect(start.url)
    attempts.store_attempt(
        response,
        attempts.SignOnAttempt(
            start.state, start.nonce, start.verifier, safe_page(request, request.GET.get("next"))
        ),
    )
    return response


@never_cache
@require_GET
def back_page(request: HttpRequest) -> HttpResponse:
    response = signed_on_response(request)
    attempts.drop_attempt(response)
    # The URL contains the provider's code, which a referrer would leak.
    response["Referrer-Policy"] = "no-referrer"
    return response


def signed_on_response(request: HttpRequest) -> HttpResponse:
    attempt = attempts.take_attempt(request)
    if attempt is None:
        text = gettext(
            "This sign-in was not begun in this browser, is too old, or was used. Begin again."
        )
        return problem(request, text, status=400)
    code = request.GET.get("code", "")
    if not code or "error" in request.GET:
        logger.warning("sign-on: the provider refused with %.40r", request.GET.get("error"))
        return problem(request, gettext("The sign-on service did not let you in. Begin again."))
    try:
        claims = provider.fetch_claims(
            code,
            verifier=attempt.verifier,
            nonce=attempt.nonce,
            redirect_uri=address_back(request),
        )
        user = identities.admit(claims)
    except provider.ProviderAway as error:
        return away_page(request, error)
    except provider.NotTrusted as error:
        logger.error("sign-on: %s", error)
        text = gettext(
            "What the sign-on service says of you could not be trusted. Begin again; if it stays"
            " so, tell an operator."
        )
        return problem(request, text)
    except identities.SignOnRefused as refused:
        return problem(request, gettext(identities.REASONS[refused.reason]))
    setattr(request, SECOND_FACTOR_GIVEN, identities.has_second_factor(claims))
    login(request, user, backend=BACKEND)
    return HttpResponseRedirect(safe_page(request, attempt.next_page))


@never_cache
@require_GET
def sign_out_page(request: HttpRequest) -> HttpResponse:
    """Sign a user out at the provider, after they have signed out of the desk."""
    try:
        url = provider.sign_out_url(request.build_absolute_uri(reverse("admin:login")))
    except provider.ProviderAway as error:
        return away_page(request, error)
    if url:
        return HttpResponseRedirect(url)
    return problem(
        request,
        gettext("Sign out at the sign-on service itself: it has no address for that."),
        status=200,
    )


def address_back(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("desk_sign_on_back"))


def safe_page(request: HttpRequest, url: str | None) -> str:
    """Return the URL if it is a page of this desk, else the first page."""
    own = url_has_allowed_host_and_scheme(url, {request.get_host()}, request.is_secure())
    index = reverse("admin:index")
    return url if url and own and url.startswith(index) else index


def away_page(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.warning("sign-on: the provider is away: %s", error)
    text = gettext("The sign-on service does not answer. Try again in a minute.")
    response = problem(request, text, status=503)
    response["Retry-After"] = str(whole_seconds(provider.PAUSE_SECONDS))
    return response


def problem(request: HttpRequest, text: str, *, status: int = 403) -> HttpResponse:
    page = draw(
        request,
        "admin/sign_on/problem.html",
        gettext("Sign in"),
        status=status,
        text=text,
        password_too=not settings.OIDC_ONLY,
    )
    return page.render()
