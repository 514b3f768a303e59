"""Visitors of the company's page, and the frame of its views: who may, how often, in what words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from time import time
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
)
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import get_language_from_request, gettext
from django.views.decorators.csrf import csrf_exempt

from companies.api.authentication import record_token_use
from companies.api_acts import Caller, caller_at_work
from companies.known_callers import CALLERS
from companies.models import ApiToken, Company
from companies.tokens import token_digest
from core.api.addresses import request_network
from core.api.minute_counter import WINDOW_SECONDS, counter
from core.values.times import whole_seconds
from portal import access
from tickets.changes.actors import Actor
from tickets.statuses import By

SESSION_COOKIE = "page_session"
LINK_COOKIE = "page_ticket_"
PORTAL_COOKIES = (SESSION_COOKIE, LINK_COOKIE)
# Oldest cookies of links beyond these are dropped, so that they fit into a request's head.
MOST_LINK_COOKIES = 20
# Wrong secrets of an address per minute: 192 bits are not guessed, so nobody needs more.
WRONG_PER_MINUTE = 30
# Several people share an address.
VISITORS_PER_ADDRESS = 5
HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}
METHODS = ("GET", "HEAD", "POST")
ACTOR = Actor(By.COMPANY, "page")

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Person of a company, who came by a link to `ticket_id`, or with a session."""

    company: Company
    # Secret of the cookie.
    secret: str
    language: str
    # Id of the link, and the only ticket that it opens.
    link_id: int | None = None
    ticket_id: int | None = None
    # Parts that a session opens.
    tickets: bool = False
    webhooks: bool = False
    return_url: str = ""
    # The token that asked for a session.
    token: ApiToken | None = None
    # Tell in the audit log who acted: a link or a session, and that token.
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def csrf(self) -> str:
        """Token that every form carries. Browsers send `Origin: null` from these pages."""
        return csrf_token(self.secret)

    @property
    def return_host(self) -> str:
        return urlsplit(self.return_url).hostname or ""


def csrf_token(secret: str) -> str:
    return salted_hmac("portal.csrf", secret).hexdigest()


class VisitorRequest(HttpRequest):
    """Request of a page with `company_page`."""

    visitor: Visitor


def company_page(*, scope: str = "tickets") -> Callable[[View], View]:
    """Decorate a view with `request.visitor`, in the company's language and time zone.

    `scope` is the part that it belongs to: tickets, webhooks, or "" for any session. A link's
    visitor gets only views with the parameter `ticket_id`, for the link's ticket. POST needs the
    form's token. A row that does not exist is a 404.
    """

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def page(request: VisitorRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method not in METHODS:
                return HttpResponseNotAllowed(METHODS)
            if (refusal := refuse_early(request)) is not None:
                return refusal
            visitor = find_visitor(request, scope, kwargs.get("ticket_id"))
            if visitor is None:
                return problem(request, 403, *closed_words())
            CALLERS.remember("page", visitor.secret, f"company {visitor.company.pk}")
            caller_at_work.set(Caller(visitor.company.pk, {**visitor.marks}))
            with (
                translation.override(visitor.language),
                timezone.override(visitor.company.zone),
            ):
                if not is_within(f"visitor:{token_digest(visitor.secret)[:32]}"):
                    return too_often(request)
                if request.method == "POST" and not is_own_form(request, visitor):
                    return problem(request, 403, *stale_form_words())
                request.visitor = visitor
                if request.method == "POST":
                    note_act(visitor)
                try:
                    return private(view(request, *args, **kwargs))
                except ObjectDoesNotExist as error:
                    raise Http404 from error

        return cast(View, page)

    return decorate


def note_act(visitor: Visitor) -> None:
    """Record the first act through a link, or the use of a session's token (companies.erasing)."""
    if visitor.link_id is not None:
        access.note_use(visitor.link_id, visitor.company.pk)
    if visitor.token is not None:
        record_token_use(visitor.token, timezone.now())


def open_to_strangers(view: View) -> View:
    """Decorate a view that looks at a secret itself: limits and headers of the company's page."""

    @csrf_exempt
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if (refusal := refuse_early(request)) is not None:
            return refusal
        return private(view(request, *args, **kwargs))

    return cast(View, page)


def find_visitor(request: HttpRequest, scope: str, ticket_id: int | None) -> Visitor | None:
    """Return whoever the cookies open this page to.

    A link opens its ticket also beside a session of another company.
    """
    link_secret = request.COOKIES.get(f"{LINK_COOKIE}{ticket_id}", "") if scope == "tickets" else ""
    link = access.find_link(link_secret) if link_secret else None
    if link is not None and link.ticket_id != ticket_id:
        link = None
    if secret := request.COOKIES.get(SESSION_COOKIE, ""):
        session = access.find_session(secret)
        is_foreign = session and link and session.company_id != link.ticket.company_id
        if session is not None and not is_foreign and (not scope or getattr(session, scope)):
            return Visitor(
                session.company,
                secret,
                session.language or session.company.written_language,
                tickets=session.tickets,
                webhooks=session.webhooks,
                return_url=session.return_url,
                token=session.token,
                marks={"token": session.token.prefix, "page": f"session {session.pk}"},
            )
    if link is None:
        return None
    company = link.ticket.company
    return Visitor(
        company,
        link_secret,
        company.written_language,
        link.pk,
        link.ticket_id,
        tickets=True,
        marks={"page": f"link {link.pk}"},
    )


def is_visitor(cookies: Mapping[str, str]) -> bool:
    """Return whether one of the cookies opens something; for limits that come before the page."""
    links = [cookies[name] for name in cookies if name.startswith(LINK_COOKIE)]
    return access.find_session(cookies.get(SESSION_COOKIE, "")) is not None or any(
        access.find_link(secret) for secret in links[:MOST_LINK_COOKIES]
    )


def is_own_form(request: HttpRequest, visitor: Visitor) -> bool:
    """Return whether a form came from a page that this visitor was shown."""
    origin = request.headers.get("Origin", "null")
    if origin != "null" and urlsplit(origin).netloc != request.get_host():
        return False
    return constant_time_compare(request.POST.get("csrf", ""), visitor.csrf)


def refuse_early(request: HttpRequest) -> HttpResponse | None:
    if not settings.COMPANY_PAGE:
        with spoken(request):
            return problem(
                request,
                404,
                gettext("This page is switched off"),
                gettext("Answer where you opened the ticket, or ask the platform that you use."),
            )
    if is_within(f"address:{request_network(request)}", VISITORS_PER_ADDRESS):
        return None
    with spoken(request):
        return too_often(request)


def count_wrong(request: HttpRequest) -> bool:
    """Count a wrong secret; return whether its address has sent too many of them."""
    return counter.add(f"page:wrong:{request_network(request)}", time()) > WRONG_PER_MINUTE


def is_within(key: str, times: int = 1) -> bool:
    return counter.add(f"page:{key}", time()) <= settings.RATE_LIMITS["page"] * times


def spoken(request: HttpRequest) -> Any:
    """Return a context in the browser's language, for somebody who is not known."""
    return translation.override(get_language_from_request(request))


def private(response: HttpResponseBase) -> HttpResponseBase:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    patch_vary_headers(response, ["Cookie"])
    return response


def render_page(
    request: VisitorRequest, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render a template of `templates/portal/` with the visitor."""
    return render(
        request, f"portal/{template}", {**context, "visitor": request.visitor}, status=status
    )


def problem(request: HttpRequest, status: int, heading: str, text: str) -> HttpResponse:
    """Render a page that says what is wrong and what to do."""
    context = {"heading": heading, "text": text}
    response = render(request, "portal/problem.html", context, status=status)
    return cast(HttpResponse, private(response))


def not_found(request: HttpRequest) -> HttpResponse:
    """Answer an address below /c/ that does not exist."""
    with spoken(request):
        return problem(
            request,
            404,
            gettext("Page not found"),
            gettext("Check the address, or open the link in our email once more."),
        )


def bad_request(request: HttpRequest, *, is_large: bool) -> HttpResponse:
    with spoken(request):
        return problem(
            request,
            413 if is_large else 400,
            gettext("Too much at a time") if is_large else gettext("Nothing was sent"),
            gettext("Go back, choose fewer or smaller files, and send it again."),
        )


def server_error(request: HttpRequest) -> HttpResponse:
    with spoken(request):
        return problem(
            request,
            500,
            gettext("Something went wrong on our side"),
            gettext("Nothing is lost. Go back, and send it again in a moment."),
        )


def too_often(request: HttpRequest) -> HttpResponse:
    heading = gettext("Too many requests")
    response = problem(request, 429, heading, gettext("Wait a minute, then load this page again."))
    response["Retry-After"] = str(whole_seconds(WINDOW_SECONDS))
    return response


def closed_words() -> tuple[str, str]:
    return (
        gettext("This page is closed"),
        gettext(
            "Open it with the link in our latest email about the ticket, or with the button of the"
            " platform that you use."
        ),
    )


def stale_form_words() -> tuple[str, str]:
    return (
        gettext("Nothing was sent"),
        gettext("This page was out of date. Go back, load it again, and send it once more."),
    )
