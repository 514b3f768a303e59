"""Where counts of requests and what the desk keeps for a moment live."""

from typing import Any


def beside_the_broker(broker: str) -> str:
    """A cache on the broker's own server, in database 1: celery's keys stay apart from ours."""
    if broker.startswith("redis+socket://"):
        return f"unix://{broker.removeprefix('redis+socket://').partition('?')[0]}?db=1"
    if broker.startswith(("redis://", "rediss://")):
        scheme, _, rest = broker.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}/1"
    return "locmem://"


def caches(url: str, *, prefix: str) -> dict[str, dict[str, Any]]:
    """Django's CACHES for the address; every key begins with `prefix`."""
    if url.startswith("locmem"):
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    return {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": url,
            "KEY_PREFIX": prefix,
            # Counting requests must never be what makes them wait.
            "OPTIONS": {"socket_timeout": 0.2, "socket_connect_timeout": 0.2},
        }
    }
