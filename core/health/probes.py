"""What machines ask by address: alive, ready, and the figures (decision N17)."""

from collections.abc import Callable, Mapping
from ipaddress import ip_address

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import split_domain_port

from core.measures.metrics import metrics
from core.watch.readiness import readyz

Answer = Callable[[HttpRequest], HttpResponse]


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all."""
    return JsonResponse({"status": "ok"})


# What they tell is for those inside.
INSIDE: Mapping[str, Answer] = {"/readyz": readyz, "/metrics": metrics}


class Probes:
    """Middleware: /healthz answers whatever the Host header says, the others if asked by address.

    Load balancers, kubelets and Prometheus do so, and are not to be listed in ALLOWED_HOSTS.
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
    """Whether it is an address or a name without a dot, such as that of a container.

    A page from outside can give a name of its own our address and read what we answer to it; to
    these it cannot.
    """
    name, _ = split_domain_port(host)
    if "." not in name and ":" not in name:
        return bool(name)
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
