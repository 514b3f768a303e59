"""The WSGI application that the Procfile's web process serves."""

import os
from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.memory import settle
from config.startup import refuse_unsafe_settings

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

refuse_unsafe_settings()
django = get_wsgi_application()
# With its addresses come all pages; Django would load them with the first request.
get_resolver().url_patterns  # noqa: B018
settle()


def application(environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
    """Django reads no further than Content-Length says: a chunked body gets one here.

    It is read to one byte beyond the largest body, which is enough to be refused as too large.
    """
    if environ.get("wsgi.input_terminated") and "CONTENT_LENGTH" not in environ:
        body = environ["wsgi.input"].read(settings.MAX_BODY_BYTES + 1)
        environ["wsgi.input"] = BytesIO(body)
        environ["CONTENT_LENGTH"] = str(len(body))
    return django(environ, start_response)
