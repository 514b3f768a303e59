"""Rows are the queue: its tables, and what the engine keeps beside them."""

from deliveries.models.engine import Drain, Health, HeldHost, Loop, Pulse, TakenLane, Wakeup
from deliveries.models.outgoing import Mail, Replay, SampleSend
from deliveries.models.queue import OPEN, Attempt, Delivery, Event, State

__all__ = [
    "OPEN",
    "Attempt",
    "Delivery",
    "Drain",
    "Event",
    "Health",
    "HeldHost",
    "Loop",
    "Mail",
    "Pulse",
    "Replay",
    "SampleSend",
    "State",
    "TakenLane",
    "Wakeup",
]
