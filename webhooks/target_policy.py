"""The target policy from the settings."""

from django.conf import settings

from webhooks.targets import Policy


def current_policy() -> Policy:
    return Policy(
        allow_http=settings.WEBHOOK_ALLOW_HTTP,
        allowed_networks=settings.WEBHOOK_ALLOWED_NETWORKS,
    )
