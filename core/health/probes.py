"""Endpoints for machines: liveness, readiness and metrics (decision N17)."""

from collections.abc import Callable, Mapping
from ipaddress import ip_address

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import split_domain_port

from core.measures.metrics import metrics
from core.watch.readiness import readyz

Answer = Callable[[HttpRequest], HttpResponse]


def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process answers at all."""
    return JsonResponse({"status": "ok"})


# Endpoints whose answers are for the internal network alone.
INSIDE: Mapping[str, Answer] = {"/readyz": readyz, "/metrics": metrics}


class Probes:
    """Middleware: /healthz is answered for any Host header, the others only by address.

    Load balancers, kubelets and Prometheus call us by address, which ALLOWED_HOSTS need not list.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response
        if request.method in ("GET", "HEAD"):
            if request.path_info == "/healthz":
                answer = healthz
            elif request.path_info in INSIDE and is_no_domain(request.META.get("HTTP_HOST", "")):
                answer = INSIDE[request.path_info]
        return answer(request)


def is_no_domain(host: str) -> bool:
    """Return whether it is an address or a name without a dot, such as that of a container.

    DNS rebinding: a page from outside can point a name of its own to our address and read our
    answers, but it cannot do so with these.
    """
    name, _ = split_domain_port(host)
    if "." not in name and ":" not in name:
        return bool(name)
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
