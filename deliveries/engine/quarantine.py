"""Quarantine: one loop of all hosts sends the deliveries that other loops were lost with.

After a second crash any delivery that was in flight at both may be the cause. The loop in
quarantine sends TOGETHER of these suspects and waits for their results. If it crashes as well, one
of them is the cause, and they are sent one by one: the next crash proves it. All other webhooks are
served as usual meanwhile.
Why: decision page engine-what-cannot-be-sent-is-set-aside.
"""

from collections.abc import Iterable

from deliveries import statements
from deliveries.engine import claiming
from deliveries.engine.loans import Claimed

# A worker with a thousand requests to slow receivers needs minutes to send them one by one.
TOGETHER = 32

# A loop that is lost or has ended is no longer in quarantine, whatever the row says.
ENTER = """
INSERT INTO deliveries_quarantine AS quarantine (id, loop_id) VALUES (1, %(loop)s)
ON CONFLICT (id) DO UPDATE SET loop_id = excluded.loop_id
WHERE quarantine.loop_id = excluded.loop_id OR NOT EXISTS (
  SELECT FROM deliveries_loop WHERE id = quarantine.loop_id AND NOT lost)
"""
LEAVE = "DELETE FROM deliveries_quarantine WHERE loop_id = %(loop)s"


class Suspects:
    """Suspects that a loop has on loan. The loop is in quarantine while there are any."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        # After a batch the other loops get a chance to enter.
        self._lets_others_in = False

    def claim(self, loop_id: str, rooms: dict[int, int]) -> list[Claimed]:
        """Claim the next suspects of these webhooks; returns none while others are being tried."""
        if self._ids or self._lets_others_in or not enter(loop_id):
            self._lets_others_in = False
            return []
        suspects = claiming.claim(loop_id, rooms, suspects=TOGETHER).claimed
        self._ids = {each.id for each in suspects}
        if not suspects:
            self.leave(loop_id)
        return suspects

    def end(self, loop_id: str, ids: Iterable[str]) -> None:
        """Note results and loans that have ended; leave after the last."""
        if self._ids:
            self._ids.difference_update(ids)
            if not self._ids:
                self.leave(loop_id)

    def leave(self, loop_id: str) -> None:
        with statements.cursor() as cursor:
            cursor.execute(LEAVE, {"loop": loop_id})
        self._lets_others_in = True

    def recover(self, loop_id: str, on_loan: set[str]) -> None:
        """Leave after an error if nothing is being tried: ENTER may have succeeded unnoticed.

        Suspects that are not `on_loan` have been recovered, and are no longer being tried.
        """
        self._ids &= on_loan
        if not self._ids:
            self.leave(loop_id)


def enter(loop_id: str) -> bool:
    with statements.cursor() as cursor:
        cursor.execute(ENTER, {"loop": loop_id})
        return bool(cursor.rowcount)
