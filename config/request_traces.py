"""A span for each request, in the trace of whoever sent it a traceparent."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from config.access_log import company_of, is_said, route_of, shown_path
from core.watch import request_ids, traces


class RequestSpans:
    """Middleware: what the request does is traced below its span."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_said(request.path_info):
            return self.get_response(request)
        given = traces.accepted_parent(request.headers.get(traces.TRACEPARENT, ""))
        method = str(request.method)
        with traces.span(
            method,
            kind="server",
            parent=given,
            method=method,
            path=shown_path(request.path_info),
            request_id=request_ids.current(),
        ) as span:
            response = self.get_response(request)
            if span is not None:
                route = route_of(request)
                span.rename(f"{method} {route}" if route else method)
                span.add({"status": response.status_code, "route": route})
                span.add({"company_id": company_of(request)})
                if response.status_code >= 500:
                    span.fail()
        return response
