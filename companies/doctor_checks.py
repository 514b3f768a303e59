"""Check of `doctor`: the database is the one that issued the ids."""

from companies import restoring
from core.watch.doctor import Concern, register


@register(
    "Run manage.py after_restore before anything is started; where nothing was lost, as after"
    " pg_upgrade or a standby that had everything, manage.py after_restore --nothing-lost."
)
def restored() -> str:
    """Warn while ids that the lost database issued may be issued again."""
    if restoring.is_restored():
        raise Concern("the database was restored, promoted or moved, and is not repaired yet")
    return "the database is the one it was"
