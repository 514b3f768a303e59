"""Production defaults without variables in the environment, written down a second time."""

import json
import subprocess
import sys

from tests.config.test_settings import ROOT, variables

# Promises to people and receivers as plain numbers, not read from where they are set.
PROMISED = {
    "ENVIRONMENT": "production",
    "DEBUG": False,
    "RATE_LIMITS": {
        "read": 12_000,
        "write": 6_000,
        "send": 120,
        "feed": 600,
        "upload": 120,
        "page": 600,
        "file_seconds": 60,
    },
    "LANGUAGE_CODE": "en",
    "DESK_LANGUAGE": "en",
    "TIME_ZONE": "UTC",
    "DESK_TIME_ZONE": "UTC",
    "APPEAL_DAYS": 30,
    "COMPANY_PAGE": True,
    "PUBLIC_URL": "",
    "CARRIER_PAGES": [],
    "UNDO_SECONDS": 10,
    "KEEP_DAYS": {
        "deliveries": 30,
        "tracking": 30,
        "files": 730,
        "notifications": 30,
        "sign_ins": 90,
        "desk_log": 365,
        "audit": 730,
    },
    "MAX_BODY_BYTES": 1_048_576,
    "MAX_UPLOAD_BYTES": 15 * 1_048_576,
    "FILE_STORAGE": "django.core.files.storage.FileSystemStorage",
    "FILE_SCANNER": "",
    "DELIVERY_TIMEOUT_SECONDS": 5.0,
    "DELIVERY_RETRY_SECONDS": [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    "WEBHOOK_ALLOW_HTTP": False,
    "WEBHOOK_ALLOWED_NETWORKS": [],
    "EMAIL_TIMEOUT": 10.0,
    "PROXY_COUNT": 0,
    "WEB_MEMORY_MIB": 512,
    "SESSION_COOKIE_AGE": 12 * 3600,
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SECURE": True,
    "CSRF_COOKIE_SECURE": True,
    "SECURE_SSL_REDIRECT": True,
    "SECURE_HSTS_SECONDS": 31_536_000,
    "SECURE_PROXY_SSL_HEADER": ["HTTP_X_FORWARDED_PROTO", "https"],
    "X_FRAME_OPTIONS": "DENY",
}
# Without TLS anybody could claim that a request came by it.
WITHOUT_HTTPS = {
    "SECURE_PROXY_SSL_HEADER": None,
    "SESSION_COOKIE_SECURE": False,
    "SECURE_SSL_REDIRECT": False,
}


def settings_of(names: list[str], **environment: str) -> dict[str, object]:
    program = (
        "import json; from config import settings;"
        f"print(json.dumps({{name: getattr(settings, name) for name in {names}}}))"
    )
    read = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=variables(**environment),
        capture_output=True,
        check=True,
    )
    return json.loads(read.stdout)


def test_are_what_is_promised() -> None:
    assert settings_of([*PROMISED]) == PROMISED


def test_without_https_nobody_is_believed_to_have_come_by_it() -> None:
    assert settings_of([*WITHOUT_HTTPS], HTTPS="false") == WITHOUT_HTTPS
