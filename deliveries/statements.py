"""Planner settings of the engine's statements."""

from core.data.statements import cursor

__all__ = ["DETOURS", "PLANNING", "cursor", "settle_plans"]

# Every statement of the engine has an index in the order that it needs. These plans read more than
# that. The nested loop of a LATERAL stays possible; what is ruled out is one that compares each row
# with each, 200 with 200, where the planner expects one.
DETOURS = ("seqscan", "bitmapscan", "sort", "mergejoin", "nestloop")
PLANNING = {f"enable_{detour}": "off" for detour in DETOURS}
# Planning a claim takes longer than a small claim.
PLANNING["plan_cache_mode"] = "force_generic_plan"


def settle_plans(*, transaction_only: bool = False) -> None:
    """Make plans generic and by indexes, on this connection or in this transaction alone.

    The planner's statistics of the queue may date from when it was empty, with a million rows in it
    now: reading all rows of a webhook then looks as cheap as reading the first.
    """
    with cursor() as prepared:
        for setting, value in PLANNING.items():
            prepared.execute("SELECT set_config(%s, %s, %s)", [setting, value, transaction_only])
