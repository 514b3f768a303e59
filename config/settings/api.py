"""Settings of the API: authentication, formats, and limits."""

from config import description
from config.settings.base import VERSION, env

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["companies.api.authentication.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["companies.api.rates.CompanyRate"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.api.negotiation.JSONOnly",
    "DEFAULT_PARSER_CLASSES": ["core.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "core.api.conditional_schema.ConditionalSchema",
    "EXCEPTION_HANDLER": "config.errors.answer_exception",
    "UNAUTHENTICATED_USER": None,
    "COMPACT_JSON": True,
}
SPECTACULAR_SETTINGS = {**description.SPECTACULAR, "VERSION": VERSION}
# Decision E6. Our parser and Django's form parser have the same limit.
MAX_BODY_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Decision N25; for the body as sent, and unpacked.
MAX_FEED_BYTES = 16 * 1024 * 1024
# Decision N8; for requests with a file, in base64 or as a form.
MAX_UPLOAD_BYTES = 15 * 1024 * 1024
# Decision E7: requests a minute, per company and class of route.
RATE_LIMITS = {
    "read": env.int("RATE_LIMIT_READ", default=12000),
    "write": env.int("RATE_LIMIT_WRITE", default=6000),
    "send": env.int("RATE_LIMIT_SEND", default=120),
    "feed": env.int("RATE_LIMIT_FEED", default=600),
    "upload": env.int("RATE_LIMIT_UPLOAD", default=120),
    # Pages for one link or session; an address has several (decision N31).
    "page": env.int("RATE_LIMIT_PAGE", default=600),
    # Processor time that opening a company's files takes (decision N8).
    "file_seconds": env.int("RATE_LIMIT_FILE_SECONDS", default=60),
}
