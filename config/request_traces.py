"""Spans of requests, in the trace of the request's traceparent."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from config.access_log import company_of, is_logged, route_of
from core.watch import traces
from core.watch.url_secrets import shown_path


class RequestSpans:
    """Middleware that runs each logged request in a span of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_logged(request.path_info):
            return self.get_response(request)
        method, path = str(request.method), shown_path(request.path_info)
        parent = request.headers.get(traces.TRACEPARENT)
        with traces.tracer.span(method, kind="server", parent=parent, method=method, path=path):
            response = self.get_response(request)
            route = route_of(request)
            traces.tracer.describe(
                f"{method} {route}" if route else method,
                failed=response.status_code >= 500,
                status=response.status_code,
                route=route,
                company_id=company_of(request),
            )
        return response
