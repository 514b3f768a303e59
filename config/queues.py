"""Names of the queues in the broker, defined here only.

Each contains its deployment's key, so that two deployments may share a broker (decision N29).
"""

from kombu import Exchange, Queue


def tasks(deployment_key: str) -> str:
    """Return the queue of the tasks that a worker's pool runs."""
    return f"parceldesk.{deployment_key}"


def doorbell(deployment_key: str) -> Queue:
    """Return the queue of the engine's doorbell, which a worker's main process consumes itself."""
    name = f"{tasks(deployment_key)}.doorbell"
    return Queue(name, Exchange(name), name)
