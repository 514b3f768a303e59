"""The names of the queues in the broker; nowhere else are they written down."""

from kombu import Exchange, Queue

# Whatever the processes of a worker's pool do.
TASKS = "parceldesk"
# Rings for the engine, which a worker's main process takes by itself (deliveries.engine.listening).
DOORBELL = Queue(f"{TASKS}.doorbell", Exchange(f"{TASKS}.doorbell"), f"{TASKS}.doorbell")
