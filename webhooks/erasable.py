"""Erasure of a company's webhooks (companies.erasing)."""

from companies import erasing

WEBHOOKS = "SELECT id FROM webhooks_webhook WHERE company_id = %(company)s"

# Mark them as deleted, as the company itself would, and clear URL and secrets.
BLANK_WEBHOOKS = {
    "webhooks": """
UPDATE webhooks_webhook SET deleted_at = coalesce(deleted_at, statement_timestamp()),
  active = false, url = '', paused_reason = '', auth_token = NULL, secret = NULL,
  next_secret = NULL, next_secret_at = NULL, updated_at = statement_timestamp()
WHERE id = ANY(%(keys)s)
""",
    "failed rows": """
DELETE FROM core_failedrow
WHERE kind = 'webhook' AND key = ANY(%(keys)s::text[])
""",
}

erasing.register_erasable(
    __name__,
    erasing.Part(
        "webhooks",
        erasing.walk_of_ids(WEBHOOKS, 100),
        lambda keys: erasing.execute_all(BLANK_WEBHOOKS, keys),
    ),
)
