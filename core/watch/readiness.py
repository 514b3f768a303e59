"""Readiness, for operators and their machines: GET /readyz (decisions, section 4).

An app registers its parts in its module `doctor_checks`: most are checks of doctor too.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, JsonResponse

from core.watch.doctor import Examine, app_order, first_line, load_checks


class Part(NamedTuple):
    """A part that must work. `examine` describes its state, and raises if it does not work.

    With `gauge` /metrics shows it, as no other figure tells the same.
    """

    name: str
    examine: Examine
    gauge: bool = True


registered: list[Part] = []


def part(name: str = "", **facts: Any) -> Callable[[Examine], Examine]:
    """Decorate a function that examines a part; the part has its name unless `name` is set."""

    def add(examine: Examine) -> Examine:
        registered.append(Part(name or examine.__name__, examine, **facts))
        return examine

    return add


def all_parts() -> list[Part]:
    """Return the parts of all apps, in the order of doctor's checks."""
    load_checks()
    return sorted(registered, key=lambda part: app_order(part.examine))


def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if every part works, else 503; the body says which part does not, and why."""
    checks = {each.name: part_state(each) for each in all_parts()}
    ready = all(checked["ok"] for checked in checks.values())
    answer = {"status": "ready" if ready else "not ready", "checks": checks}
    return JsonResponse(answer, status=200 if ready else 503)


def part_state(each: Part) -> dict[str, object]:
    try:
        return {"ok": True, "detail": each.examine()}
    except Exception as error:  # a readiness page must describe a failure, never be one
        return {"ok": False, "detail": first_line(error)}
