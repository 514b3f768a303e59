"""Description of ETag, If-None-Match and 304 in GET /schema, for views that answer with them."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of an earlier answer: while it is unchanged you get a 304.",
)
ETAG = OpenApiParameter(
    "ETag",
    {"type": "string", "pattern": '^W/"[0-9a-f]+"$'},
    OpenApiParameter.HEADER,
    description="Send it in If-None-Match when you ask again.",
    response=[200, 304],
)
UNCHANGED = "Unchanged since the answer with this ETag. No body."


class ConditionalSchema(AutoSchema):
    """Schema of any view; documents these headers for GET if the view is `conditional`."""

    @property
    def conditional(self) -> bool:
        return self.method == "GET" and getattr(self.view, "conditional", False)

    def get_override_parameters(self) -> list[Any]:
        return [IF_NONE_MATCH, ETAG] if self.conditional else []

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if self.conditional:
            headers = self._get_response_headers_for_code("304", direction)
            bodies["304"] = {"description": UNCHANGED, "headers": headers}
        return dict(sorted(bodies.items()))
