"""Settings of drf-spectacular for GET /schema and GET /docs, with the API's introduction.

Requests and responses of an endpoint are described in the schema.py of its app.
"""

ABOUT = """\
Companies open support tickets and register webhooks. Start with the
[guides](/docs/guides).

**Authentication.** Every request carries `Authorization: Bearer <API token>`.

**Errors.** Every answer is JSON. Management paths answer `statusCode`, `error`, `message`, `code`
and, when fields are wrong, `errors`. Paths under `/ship/` answer `meta` "error" and the same inside
`error`, where `code` is the status and `reason` the error code. Programs should test the code:
messages may be reworded.

**Request ids.** Every answer has an `X-Request-Id`: the one you sent, if it is 1 to 128 of
`A-Z a-z 0-9 . _ -`, else a new one. Quote it when you contact support about a request.

**Validation.** Unknown fields are refused by name. `"5"`, `true` and `5.0` are not integers. Bodies
are at most 1 MiB, or 15 MiB with a file.

**Rate limits.** Requests are counted per company and minute: see the `RateLimit-*` headers.

**Conditional requests.** Answers to GET have an `ETag`. Send it in `If-None-Match`: an unchanged
resource is answered with 304 and no body.

**Idempotency.** A POST with an `Idempotency-Key` can be retried within 24 hours: it takes effect
once.
"""

SPECTACULAR = {
    "TITLE": "Support tickets and webhooks",
    "DESCRIPTION": ABOUT,
    "OAS_VERSION": "3.1.1",
    # Relative to the address that /schema was read from.
    "SERVERS": [{"url": "/", "description": "This service"}],
    "TAGS": [
        {"name": "Tickets", "description": "Open, update, comment, rate and list tickets."},
        {"name": "Files", "description": "Send files to tickets."},
        {"name": "Webhooks", "description": "Register URLs that receive events."},
        {"name": "Deliveries", "description": "What we sent, and sending it again."},
        {"name": "Page", "description": "Let people of your company in."},
        {"name": "Shipping", "description": "Track shipments and test a receiver."},
        {"name": "Platform", "description": "For the shipping platform alone."},
    ],
    "PATH_CONVERTER_OVERRIDES": {
        "id": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
        "text": {"type": "string", "minLength": 1},
    },
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "deliveries.api.receiving.with_webhooks",
        # Choices stay inline: components with generated names would only have to be looked up.
        "core.api.schema.without_marks",
        "core.api.schema.without_defaults",
        "core.api.schema.with_needed_bodies",
        # This one also changes the webhooks that the first hook adds.
        "core.api.schema.with_open_choices",
    ],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Docstrings are for readers of the code.
    "DISABLE_DOCSTRING_DESCRIPTIONS": True,
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": True,
        "defaultModelsExpandDepth": 0,
        # Otherwise the page sends the schema to an external validator.
        "validatorUrl": None,
    },
}
