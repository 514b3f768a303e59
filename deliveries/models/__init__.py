"""Tables of the queue, and of the engine's state."""

from deliveries.models.engine import (
    Drain,
    Health,
    Heartbeat,
    HeldHost,
    Loop,
    Quarantine,
    TakenLane,
    Wakeup,
)
from deliveries.models.outgoing import Replay, SampleSend
from deliveries.models.queue import (
    OPEN,
    SET_ASIDE,
    STATES,
    Attempt,
    Delivery,
    Event,
    LoggedAttempt,
    State,
    SubjectKind,
)

__all__ = [
    "OPEN",
    "SET_ASIDE",
    "STATES",
    "Attempt",
    "Delivery",
    "Drain",
    "Event",
    "Health",
    "Heartbeat",
    "HeldHost",
    "LoggedAttempt",
    "Loop",
    "Quarantine",
    "Replay",
    "SampleSend",
    "State",
    "SubjectKind",
    "TakenLane",
    "Wakeup",
]
