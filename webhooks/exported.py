"""Export of a company's webhooks (companies.exporting)."""

from companies import erasing
from companies.exporting import Exported, register_exported
from webhooks.erasable import WEBHOOKS

register_exported(
    __name__,
    Exported(
        "webhooks",
        "its webhooks, those that it has deleted too.",
        "webhooks_webhook",
        erasing.walk_of_ids(WEBHOOKS, 500),
        without=("secret", "next_secret", "auth_token", "begins_after"),
    ),
)
