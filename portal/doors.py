"""Views that let people in: a link of an email, and the address of a session."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST, require_safe

from companies.tokens import token_digest
from portal import access
from portal.models import PortalSession
from portal.problems import problem
from portal.visitors import (
    LINK_COOKIE,
    MOST_LINK_COOKIES,
    SESSION_COOKIE,
    VisitorRequest,
    company_page,
    count_wrong,
    open_to_strangers,
)

PATH = "/c/"


@require_safe
@open_to_strangers
def link_page(request: HttpRequest, secret: str) -> HttpResponse:
    """Let in whoever opens a link of an email; the secret leaves the address bar at once."""
    link = access.find_link(secret)
    if link is None:
        return refuse_secret(request, secret, "over_link")
    response = redirect("portal_ticket", link.ticket_id)
    links = [name for name in request.COOKIES if name.startswith(LINK_COOKIE)]
    for name in links[: -MOST_LINK_COOKIES + 1]:
        response.delete_cookie(name, path=PATH, samesite="Lax")
    name = f"{LINK_COOKIE}{link.ticket_id}"
    set_cookie(response, name, secret, int(settings.LINK_LIFETIME.total_seconds()))
    return response


@require_GET
@open_to_strangers
def session_page(request: HttpRequest, secret: str) -> HttpResponse:
    """Open a session, once; whoever comes back in the same browser goes on with it."""
    if request.headers.get("Sec-Purpose", "").startswith("prefetch"):
        return HttpResponse(status=204)
    if (opened := access.open_session(secret)) is not None:
        session, key = opened
        response = redirect(first_page(session))
        set_cookie(response, SESSION_COOKIE, key, int(access.SESSION_LIFETIME.total_seconds()))
        return response
    own = access.find_session(request.COOKIES.get(SESSION_COOKIE, ""))
    if own is not None and own.url_digest == token_digest(secret):
        return redirect(first_page(own))
    return refuse_secret(request, secret, "over_session")


@require_POST
@company_page(scope="")
def leave_page(request: VisitorRequest) -> HttpResponse:
    """End the session, and go back to the platform."""
    session = request.visitor.session
    own = PortalSession.objects.filter(key_digest=token_digest(request.visitor.secret))
    access.end_sessions(own)
    if session and session.return_url:
        response = HttpResponse(status=303, headers={"Location": session.return_url})
    else:
        response = problem(request, "left")
    response.delete_cookie(SESSION_COOKIE, path=PATH, samesite="Lax")
    return response


def first_page(session: PortalSession) -> str:
    if session.ticket_id is not None and session.tickets:
        return reverse("portal_ticket", args=[session.ticket_id])
    return reverse("portal_tickets" if session.tickets else "portal_webhooks")


def set_cookie(response: HttpResponse, name: str, secret: str, seconds: int) -> None:
    response.set_cookie(
        name,
        secret,
        max_age=seconds,
        path=PATH,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def refuse_secret(request: HttpRequest, secret: str, name: str) -> HttpResponse:
    """Answer a secret that opens nothing: 410 if it once did, else 404."""
    is_old = access.was_door(secret)
    if not is_old and count_wrong(request):
        return problem(request, "too_often")
    return problem(request, name, None if is_old else 404)
