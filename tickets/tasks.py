from deliveries.upkeep.periodic import periodic_task
from tickets.assignment import automatic, loads
from tickets.sla import recalculation


@periodic_task(limit_seconds=120, batch=automatic.MOST_AT_ONCE)
def assign_waiting() -> int:
    return automatic.assign_waiting()


@periodic_task(limit_seconds=120)
def check_loads() -> int:
    return loads.check_loads()


@periodic_task(limit_seconds=120, batch=recalculation.MOST_AT_ONCE)
def recalculate_stale() -> int:
    """Recalculate due dates that follow old rules. A change of rules rings; beat makes sure."""
    return recalculation.recalculate_stale()


@periodic_task(limit_seconds=120, batch=recalculation.MOST_AT_ONCE)
def set_late_claim_deadlines() -> int:
    return recalculation.set_late_claim_deadlines()
