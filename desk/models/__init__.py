"""Models of the desk: its people, its tools, and storms."""

from desk.models.people import Invitation, Preferences, ResetRequest, SeenSession, SignOn
from desk.models.work import (
    PLACEHOLDERS,
    Macro,
    SavedView,
    SettledStep,
    Storm,
    StormReply,
    Visit,
    check_placeholders,
)

__all__ = [
    "PLACEHOLDERS",
    "Invitation",
    "Macro",
    "Preferences",
    "ResetRequest",
    "SavedView",
    "SeenSession",
    "SettledStep",
    "SignOn",
    "Storm",
    "StormReply",
    "Visit",
    "check_placeholders",
]
