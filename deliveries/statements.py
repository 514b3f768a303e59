"""How the engine's statements are planned."""

from core.data.statements import cursor

__all__ = ["DETOURS", "PLANNING", "cursor", "settle_plans"]

# Every statement of the engine has its index, in the order it needs. These are ways to read more
# than is asked for. A loop that a LATERAL asks for is made all the same; what is gone is the one
# that compares each row with each, 200 with 200, where the planner expects one.
DETOURS = ("seqscan", "bitmapscan", "sort", "mergejoin", "nestloop")
PLANNING = {f"enable_{detour}": "off" for detour in DETOURS}
# Planning a claim takes longer than a small claim.
PLANNING["plan_cache_mode"] = "force_generic_plan"


def settle_plans(*, transaction_only: bool = False) -> None:
    """Have plans made once and from the indexes, on this connection or in this transaction alone.

    What the planner knows of the queue may be from when it was empty, with a million rows in it
    now; and then reading all rows of a webhook looks as good to it as reading the first.
    """
    with cursor() as prepared:
        for setting, value in PLANNING.items():
            prepared.execute("SELECT set_config(%s, %s, %s)", [setting, value, transaction_only])
