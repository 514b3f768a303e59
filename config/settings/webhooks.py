"""Webhooks and deliveries."""

from config.settings.base import PRODUCT, VERSION, env

WEBHOOKS_PER_COMPANY = env.int("WEBHOOKS_PER_COMPANY", default=100)  # decision N4
# Newest first: the first encrypts, all of them decrypt.
FIELD_KEYS = env.list("FIELD_KEYS", default=[])
# Addresses that our requests come from, as listed in the guides.
SENDER_ADDRESSES = env.networks("SENDER_ADDRESSES", default=())
WEBHOOK_ALLOWED_NETWORKS = env.networks("WEBHOOK_ALLOWED_NETWORKS", default=())
WEBHOOK_ALLOW_HTTP = env.bool("WEBHOOK_ALLOW_HTTP", default=False)
DELIVERY_CA_BUNDLE = env.str("DELIVERY_CA_BUNDLE", default="")
# Decision N23: http:// or socks5://, with or without a login; checked by config.E024.
DELIVERY_PROXY = env.str("DELIVERY_PROXY", default="")
DELIVERY_TIMEOUT_SECONDS = env.float("DELIVERY_TIMEOUT_SECONDS", default=5.0)
# Decision W19: delays after the first, second, … failure.
DELIVERY_RETRY_SECONDS = tuple(
    env.listed(
        "DELIVERY_RETRY_SECONDS",
        cast=float,
        default=[5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400],
        kind="a list of numbers",
    )
)
# Most engine loops at once, over all workers of one database: about one per core.
DELIVERY_LOOPS = env.int("DELIVERY_LOOPS", default=2)
DELIVERY_USER_AGENT = f"{PRODUCT}/{VERSION}"
