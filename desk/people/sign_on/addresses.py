"""URLs of single sign-on, whose pages are loaded only if a provider is configured.

The pages need Authlib, which takes 12 MB of memory.
"""

from importlib import import_module

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path

PAGES = "desk.people.sign_on.pages"


def sign_on_page(request: HttpRequest, page: str) -> HttpResponse:
    """Load and call a page. Raises Http404 if no provider is configured."""
    if not settings.OIDC_ISSUER:
        raise Http404
    response: HttpResponse = getattr(import_module(PAGES), page)(request)
    return response


if settings.OIDC_ISSUER:
    # Loaded before the web server forks, so that its processes share the memory.
    import_module(PAGES)

urlpatterns = [
    path("", sign_on_page, {"page": "begin_sign_on_page"}, name="desk_sign_on"),
    path("back/", sign_on_page, {"page": "back_page"}, name="desk_sign_on_back"),
    path("sign-out/", sign_on_page, {"page": "sign_out_page"}, name="desk_sign_on_out"),
]
