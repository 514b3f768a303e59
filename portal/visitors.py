"""Visitors of the company's page, and the frame of its views: who may, and how often."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from time import time
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone, translation
from django.utils.cache import get_conditional_response, set_response_etag
from django.utils.crypto import constant_time_compare, salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from companies.api.authentication import record_token_use
from companies.api_acts import Caller, caller_at_work
from companies.known_callers import CALLERS
from companies.models import Company
from companies.tokens import token_digest
from core.api.addresses import request_network
from core.api.minute_counter import counter
from portal import access
from portal.models import PortalSession, TicketLink
from portal.problems import private, problem
from tickets.changes.actors import Actor
from tickets.statuses import By
from webhooks.services import UnknownWebhook

SESSION_COOKIE = "page_session"
LINK_COOKIE = "page_ticket_"
PORTAL_COOKIES = (SESSION_COOKIE, LINK_COOKIE)
# Oldest cookies of links beyond these are dropped, so that they fit into a request's head.
MOST_LINK_COOKIES = 20
# Wrong secrets of an address per minute: 192 bits are not guessed, so nobody needs more.
WRONG_PER_MINUTE = 30
# Several people share an address.
VISITORS_PER_ADDRESS = 5
ACTOR = Actor(By.COMPANY, "page")

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Visitor:
    """Person of a company, who came with a session, or by a link to a ticket."""

    company: Company
    # Secret of the cookie.
    secret: str
    language: str
    session: PortalSession | None = None
    link: TicketLink | None = None

    @property
    def csrf(self) -> str:
        """Token that every form carries. Browsers send `Origin: null` from these pages."""
        return csrf_token(self.secret)

    @property
    def return_host(self) -> str:
        return urlsplit(self.session.return_url if self.session else "").hostname or ""

    @property
    def marks(self) -> dict[str, str | int]:
        """Marks of acts in the audit log: a link or a session, and its token."""
        if self.session is None:
            return {"page": f"link {self.link.pk}"} if self.link else {}
        return {"token": self.session.token.prefix, "page": f"session {self.session.pk}"}


def csrf_token(secret: str) -> str:
    return salted_hmac("portal.csrf", secret).hexdigest()


class VisitorRequest(HttpRequest):
    """Request of a page with `company_page`."""

    visitor: Visitor
    # Part of the page that the view belongs to.
    part: str


def company_page(*, scope: str = "tickets") -> Callable[[View], View]:
    """Decorate a view with `request.visitor`, in the company's language and time zone.

    `scope` is the part that it belongs to: tickets, webhooks, or "" for any session. A link's
    visitor gets only views with the parameter `ticket_id`, for the link's ticket. POST needs the
    form's token. A row that does not exist is a 404.
    """

    def decorate(view: View) -> View:
        @require_http_methods(["GET", "HEAD", "POST"])
        @open_to_strangers
        @wraps(view)
        def page(request: VisitorRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            visitor = find_visitor(request, scope, kwargs.get("ticket_id"))
            if visitor is None:
                return problem(request, "closed")
            request.visitor, request.part = visitor, scope
            CALLERS.remember("page", visitor.secret, f"company {visitor.company.pk}")
            caller_at_work.set(Caller(visitor.company.pk, visitor.marks))
            if not is_within(f"visitor:{token_digest(visitor.secret)[:32]}"):
                return problem(request, "too_often")
            if request.method == "POST" and not is_own_form(request, visitor):
                return problem(request, "stale")
            with (
                translation.override(visitor.language),
                timezone.override(visitor.company.zone),
            ):
                return answer(view, request, *args, **kwargs)

        return page

    return decorate


def answer(view: View, request: VisitorRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    """Call a view; record the use of a session's token, or the first act through a link."""
    visitor, is_act = request.visitor, request.method == "POST"
    if is_act and visitor.session is not None:
        # Written first: an erasure waits for requests of tokens that were used lately.
        record_token_use(visitor.session.token, timezone.now())
    try:
        response = view(request, *args, **kwargs)
    except (ObjectDoesNotExist, UnknownWebhook) as error:
        raise Http404 from error
    if is_act and visitor.link is not None and response.status_code < 400:
        access.note_use(visitor.link.pk, visitor.company.pk)
    return response


def open_to_strangers(view: View) -> View:
    """Decorate a view that looks at a secret itself: limits and headers of the company's page."""

    @csrf_exempt
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.COMPANY_PAGE:
            return problem(request, "off")
        if not is_within(f"address:{request_network(request)}", VISITORS_PER_ADDRESS):
            return problem(request, "too_often")
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
            company = session.company
            language = session.language or company.written_language
            return Visitor(company, secret, language, session=session)
    if link is None:
        return None
    company = link.ticket.company
    return Visitor(company, link_secret, company.written_language, link=link)


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


def count_wrong(request: HttpRequest) -> bool:
    """Count a wrong secret; return whether its address has sent too many of them."""
    return counter.add(f"page:wrong:{request_network(request)}", time()) > WRONG_PER_MINUTE


def is_within(key: str, times: int = 1) -> bool:
    return counter.add(f"page:{key}", time()) <= settings.RATE_LIMITS["page"] * times


def render_page(
    request: VisitorRequest, template: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render a template of `templates/portal/` with the visitor.

    Open pages ask every few seconds for another version than they show. The ETag is the `state`
    of the context, if there is one.
    """
    framed = {**context, "visitor": request.visitor, "part": request.part}
    response = render(request, f"portal/{template}", framed, status=status)
    if request.method == "POST" or status != HTTPStatus.OK:
        return response
    if "state" in context:
        response["ETag"] = f'"{context["state"]}"'
    else:
        set_response_etag(response)
    unchanged = get_conditional_response(request, response["ETag"], response=response)
    return cast(HttpResponse, unchanged)
