"""The names of the queues in the broker; nowhere else are they written down.

Each has the key of its deployment, so that two deployments may share a broker (decision N29).
"""

from kombu import Exchange, Queue


def tasks(deployment_key: str) -> str:
    """For whatever the processes of a worker's pool do."""
    return f"parceldesk.{deployment_key}"


def doorbell(deployment_key: str) -> Queue:
    """For the doorbell of the engine, which a worker's main process hears by itself."""
    name = f"{tasks(deployment_key)}.doorbell"
    return Queue(name, Exchange(name), name)
