"""Events, deliveries and attempts in the export of a company (companies.exporting)."""

from companies.exporting import Exported, register_exported
from deliveries.upkeep.erasable import walk_events, walk_log

# Internal to the engine.
ENGINE_COLUMNS = ("step", "own_due_at", "claimed_by", "claimed_until", "crashes", "asked_until")
BOOKKEEPING_COLUMNS = ("asked_on", "asked_times", "archived_on")
# Exported with the attempts.
ATTEMPT_COLUMNS = ("attempt_duration_ms", "attempt_url", "attempt_answer")

register_exported(
    __name__,
    Exported(
        "events",
        "what was told to its webhooks; body is the text as it is sent.",
        "deliveries_event",
        walk_events,
        without=("traceparent",),
        extra="jsonb_build_object('body', convert_from(row.body, 'UTF8'))",
    ),
    Exported(
        "deliveries",
        "each event for each webhook. state: 0 waits, 1 delivered, 2 given up, 3 cancelled.",
        "deliveries_delivery",
        walk_log,
        kind="uuid",
        without=(*ENGINE_COLUMNS, *BOOKKEEPING_COLUMNS, *ATTEMPT_COLUMNS),
        order="created_at, event_id",
    ),
    Exported(
        "attempts",
        "each try to deliver, with the receiver's answer; what is no ASCII in it as \\ooo.",
        "deliveries_any_attempt",
        walk_log,
        key="delivery_id",
        kind="uuid",
        order="delivery_id, number",
        extra="jsonb_build_object('answer', encode(row.answer, 'escape'))",
    ),
)
