"""Where counts of requests and what the desk keeps for a moment live."""

from typing import Any
from urllib.parse import parse_qsl, urlencode


def beside_the_broker(broker: str) -> str:
    """A cache on the broker's own server, in database 1: celery's keys stay apart from ours.

    What the address says besides, such as how TLS is checked, holds for the cache too.
    """
    address, _, rest = broker.partition("?")
    query = [(name, client_s_word(name, value)) for name, value in parse_qsl(rest)]
    if address.startswith("redis+socket://"):
        # Celery's name for the number of the database.
        query = [("db", "1"), *((name, value) for name, value in query if name != "virtual_host")]
        return f"unix://{address.removeprefix('redis+socket://')}?{urlencode(query)}"
    if address.startswith(("redis://", "rediss://")):
        scheme, _, server = address.partition("://")
        more = f"?{urlencode(query)}" if query else ""
        return f"{scheme}://{server.partition('/')[0]}/1{more}"
    return "locmem://"


def client_s_word(name: str, value: str) -> str:
    """Celery also takes the names of Python's constants, such as CERT_NONE."""
    return value.lower().removeprefix("cert_") if name == "ssl_cert_reqs" else value


def caches(url: str, *, prefix: str) -> dict[str, dict[str, Any]]:
    """Django's CACHES for the address; every key begins with `prefix`."""
    if url.startswith("locmem"):
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    return {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": url,
            "KEY_PREFIX": prefix,
            "KEY_FUNCTION": "core.jobs.deployments.cache_key",
            # Counting requests must never be what makes them wait.
            "OPTIONS": {"socket_timeout": 0.2, "socket_connect_timeout": 0.2},
        }
    }
