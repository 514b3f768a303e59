"""What beat rings for, every so many seconds. A ring that is lost does no harm: the next comes."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celery.beat import ScheduleEntry

# What is rung for as often as this is rung for at the start too, so that probes need not wait.
OFTEN_SECONDS = 10.0

SCHEDULE: dict[str, dict[str, Any]] = {
    "show that beat and workers are alive, cancel deliveries of deleted webhooks": {
        "task": "deliveries.tasks.sweep",
        "schedule": 10.0,
        "options": {"expires": 30.0},
    },
    "assign waiting tickets": {
        "task": "tickets.tasks.assign_waiting",
        "schedule": 10.0,
        "options": {"expires": 30.0},
    },
    "check the agents' loads": {
        "task": "tickets.tasks.check_loads",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    # Finds all that a change of targets left to do; where nothing is, one statement.
    "recalculate the due dates of tickets": {
        "task": "tickets.tasks.recalculate_stale",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "set claim deadlines once the shipment is known": {
        "task": "tickets.tasks.set_late_claim_deadlines",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    "tell agents what is about to be late": {
        "task": "tickets.tasks.notify_of_late_tickets",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "remind, close and escalate by themselves": {
        "task": "tickets.tasks.run_automations",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "make tickets findable by shipments that came later": {
        "task": "tickets.tasks.add_known_shipments",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    # A file that came rings by itself.
    "make the small pictures of files": {
        "task": "tickets.tasks.make_thumbnails",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "remove files that belong to nothing": {
        "task": "tickets.tasks.remove_orphans",
        "schedule": 600.0,
        "options": {"expires": 600.0},
    },
    "watch for storms": {
        "task": "desk.tasks.watch_for_storms",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    # Twice in the time for which they are kept, so that no lead who looks waits for them.
    "compute the figures in advance": {
        "task": "desk.tasks.count_figures",
        "schedule": 30.0,
        "options": {"expires": 30.0},
    },
    "pause webhooks that keep failing": {
        "task": "deliveries.tasks.pause_failing",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    # Goes on with replies that a killed worker or a lost doorbell has left unfinished.
    "answer the tickets of storms": {
        "task": "desk.tasks.answer_storms",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    # Pages that show them send theirs in time; this is for those that nobody looks at.
    "send answers that can no longer be taken back": {
        "task": "desk.tasks.send_answers",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    },
    "send emails": {
        "task": "deliveries.tasks.send_mails",
        "schedule": 10.0,
        "options": {"expires": 30.0},
    },
    # More often than once a day: a week that was in use has its next turn soon.
    "forget what is old": {
        "task": "config.tasks.forget_what_is_old",
        "schedule": 21600.0,
        "options": {"expires": 21600.0},
    },
    # Weeks ahead; more often than that needs, to notice what fell outside of them.
    "create partitions in advance": {
        "task": "deliveries.tasks.make_partitions",
        "schedule": 3600.0,
        "options": {"expires": 3600.0},
    },
}


def make_often_due(entries: "Iterable[ScheduleEntry]") -> None:
    """Make those due that are rung for often."""
    often = {name for name, each in SCHEDULE.items() if each["schedule"] <= OFTEN_SECONDS}
    for entry in entries:
        if entry.name in often and entry.last_run_at:
            entry.last_run_at -= timedelta(seconds=OFTEN_SECONDS)
