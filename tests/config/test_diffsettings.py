"""`diffsettings` shows the service's settings, and no secret."""

from io import StringIO

import pytest
from django.core.management import call_command
from pytest_django import Settings

SECRETS = {
    "SECRET_KEY": "secret-canary-0",
    "SECRET_KEY_FALLBACKS": ["secret-canary-1"],
    "FIELD_KEYS": ["secret-canary-2"],
    "EMAIL_HOST_PASSWORD": "secret-canary-3",
    "OIDC_CLIENT_SECRET": "secret-canary-4",
    "SENTRY_DSN": "https://secret-canary-5@sentry.example/1",
    "DELIVERY_PROXY": "http://user:secret-canary-6@proxy.example",
    "CELERY_BROKER_URL": "redis://:secret-canary-7@broker.example",
    "CACHE_URL": "redis://:secret-canary-8@broker.example",
    "CACHES": {"default": {"LOCATION": "redis://:secret-canary-9@broker.example"}},
    "SOME_NEW_URL": "amqp://user:secret-canary-10@broker.example",
    "SOME_NEW_TOKEN": "secret-canary-11",
}


@pytest.mark.parametrize("form", ["hash", "unified"])
def test_no_secret_is_printed(settings: Settings, form: str) -> None:
    password = settings.DATABASES["default"].get("PASSWORD") or "secret-canary-12"
    for name, value in SECRETS.items():
        setattr(settings, name, value)
    settings.OIDC_CLIENT_ID = "parceldesk-at-acme"
    out = StringIO()

    call_command("diffsettings", "--all", "--output", form, stdout=out)

    assert "canary" not in out.getvalue()
    assert password not in out.getvalue()
    for name in ("SECRET_KEY", "FIELD_KEYS", "DATABASES", "SOME_NEW_URL"):
        assert f"{name} = (hidden)" in out.getvalue()
    for name in ("OIDC_CLIENT_ID = 'parceldesk-at-acme'", "KEEP_DAYS = {", "ALLOWED_HOSTS = ["):
        assert name in out.getvalue()
