"""Sending e-mail."""

from config.settings.base import PRODUCT, env

EMAIL_HOST = env.str("EMAIL_HOST", default="")
# Without a mail server, mail is printed to standard output.
EMAIL_BACKEND = env.str(
    "EMAIL_BACKEND",
    default=f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend",
)
# TLS from the first byte (465), or after STARTTLS (587).
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=False)
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=bool(EMAIL_HOST) and not EMAIL_USE_SSL)
EMAIL_PORT = env.int("EMAIL_PORT", default=465 if EMAIL_USE_SSL else 587 if EMAIL_USE_TLS else 25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
# Timeout of one read or write: a mail server that does not answer must not block the sender.
EMAIL_TIMEOUT = env.float("EMAIL_TIMEOUT_SECONDS", default=10.0)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default=f"{PRODUCT}@localhost")
