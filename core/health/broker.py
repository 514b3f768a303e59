"""Checks of the broker: it answers, accepts writes, and has room."""

from typing import Any

from celery import current_app
from kombu import Producer, Queue

from core.watch.doctor import Concern

HEARTBEAT_SECONDS = 2
PROBE, PROBE_SECONDS = "parceldesk.probe", 60
NEARLY_FULL = 0.9


def broker() -> str:
    """Write a probe: a broker that answers may still be full, or lack its replicas."""
    # During an alarm RabbitMQ reads nothing and detects closed connections by its own heartbeats:
    # without them each probe would leave a connection until the alarm is over.
    link = current_app.connection_for_write(heartbeat=HEARTBEAT_SECONDS)
    try:
        link.ensure_connection(max_retries=1, interval_start=0, timeout=1)
        probe_write(link.channel())
    except Exception:
        # Without room RabbitMQ does not even answer a close.
        link.collect()
        raise
    link.release()
    return "takes what is written"


def probe_write(channel: Any) -> None:
    """Write as little as will be noticed, with an expiry, so that the broker discards it."""
    client = getattr(channel, "client", None)
    if client is not None:
        # Redis and Valkey keep every queue as a key.
        client.set(PROBE, 1, ex=PROBE_SECONDS)
        return
    # RabbitMQ confirms what it has accepted. During an alarm it accepts one message and reports the
    # alarm at the second.
    channel.connection.on_blocked = refuse_without_room
    channel.basic_publish = getattr(channel, "basic_publish_confirm", channel.basic_publish)
    queue = Queue(PROBE, routing_key=PROBE, expires=PROBE_SECONDS, max_length=1)
    with Producer(channel) as producer:
        for _ in range(2):
            producer.publish(
                b"",
                routing_key=PROBE,
                declare=[queue],
                delivery_mode=1,  # not kept on disk
                expiration=1,
                timeout=1,
                confirm_timeout=1,
            )


def refuse_without_room(_: str) -> None:
    """Raise RuntimeError, as RabbitMQ has blocked the connection."""
    raise RuntimeError("RabbitMQ takes no messages: its alarm for memory or disk is on")


def broker_memory() -> str:
    """Compare the memory of a Redis with its limit; RabbitMQ reports an alarm when written to."""
    with current_app.connection_for_write() as link:
        if link.transport.driver_type == "amqp":
            broker()
            return "RabbitMQ has no alarm for memory or disk on"
        channel: Any = link.default_channel
        memory = channel.client.info("memory")
    used, most = int(memory["used_memory"]), int(memory.get("maxmemory") or 0)
    policy = memory.get("maxmemory_policy", "noeviction")
    if most and policy.startswith("allkeys"):
        raise Concern(f"its policy {policy} throws doorbells away; deliveries then start late")
    usage = f"{used // 1024**2} MiB" + (f" of {most // 1024**2}" if most else ", without a bound")
    if most and used > NEARLY_FULL * most:
        raise Concern(usage)
    return usage
