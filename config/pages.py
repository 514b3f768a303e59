"""What pages need that no app is about: /schema, and the environment's name on the desk."""

import json
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from drf_spectacular.generators import SchemaGenerator


@cache
def description() -> bytes:
    """Made once per process: to make it costs what a hundred requests do."""
    return json.dumps(SchemaGenerator().get_schema(request=None, public=True)).encode()


def schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(description(), content_type="application/json")


def environment_badge(request: HttpRequest) -> list[str] | None:
    """An agent must see at a glance whether this is the test environment."""
    if settings.ENVIRONMENT == "production":
        return None
    return [settings.ENVIRONMENT, "warning"]
