"""Django's CACHES: request counts for rate limits, and short-lived values of the desk."""

from typing import Any
from urllib.parse import parse_qsl, urlencode


def beside_the_broker(broker: str) -> str:
    """Return the address of database 1 on the broker's server, apart from Celery's keys.

    The address's options, such as how TLS is checked, apply to the cache too.
    """
    address, _, rest = broker.partition("?")
    query = [(name, redis_option(name, value)) for name, value in parse_qsl(rest)]
    if address.startswith("redis+socket://"):
        # Celery calls the number of the database virtual_host.
        query = [("db", "1"), *((name, value) for name, value in query if name != "virtual_host")]
        return f"unix://{address.removeprefix('redis+socket://')}?{urlencode(query)}"
    if address.startswith(("redis://", "rediss://")):
        scheme, _, server = address.partition("://")
        options = f"?{urlencode(query)}" if query else ""
        return f"{scheme}://{server.partition('/')[0]}/1{options}"
    return "locmem://"


def redis_option(name: str, value: str) -> str:
    """Translate a Celery option for redis-py: Celery also takes constants such as CERT_NONE."""
    return value.lower().removeprefix("cert_") if name == "ssl_cert_reqs" else value


def caches(url: str, *, prefix: str) -> dict[str, dict[str, Any]]:
    """Return Django's CACHES for an address; every key begins with `prefix`."""
    if url.startswith("locmem"):
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    return {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": url,
            "KEY_PREFIX": prefix,
            "KEY_FUNCTION": "core.jobs.deployments.cache_key",
            # A slow cache must not delay the requests that it counts.
            "OPTIONS": {"socket_timeout": 0.2, "socket_connect_timeout": 0.2},
        }
    }
