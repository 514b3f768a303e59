"""What an engine loop decides: what is sent when, and how much at once."""

from faults.broken import Mutant

LOOP = "deliveries/engine/loop.py"
BESIDE = "deliveries/engine/beside.py"
TURNS = "deliveries/engine/turns.py"
LANE_BOOK = "deliveries/engine/lane_book.py"
LANES = "deliveries/engine/lanes.py"
PACE = "deliveries/engine/pace.py"
ROOMS = "deliveries/engine/rooms.py"
ROUND_ROBIN = "deliveries/engine/round_robin.py"

LOOP_AND_ROOMS = (
    Mutant(
        "firsts-wait-for-the-turn",
        TURNS,
        "            turn.enter(firsts)\n        self._record(turn)\n",
        "            self._record(turn)\n            turn.enter(firsts)\n"
        "        self._record(turn)\n",
        "Who is quick waits for all that another company has to have recorded.",
    ),
    Mutant(
        "never-brief",
        LANE_BOOK,
        "if claims and self._rooms.in_flight and not calm:",
        "if False:",
        "Beside another company's backlog an event waits twice as long.",
    ),
    Mutant(
        "calm-beside-a-claim",
        LANE_BOOK,
        "calm &= not (self._claiming or self._rooms.to_claim) and",
        "calm &= not self._rooms.to_claim and",
        "Beside another company's backlog an event waits twice as long.",
    ),
    Mutant(
        "standing-by-takes-at-once",
        LANES,
        "      AND due_at <= statement_timestamp() - make_interval(secs => %(leave)s)\n",
        "",
        "Every loop takes turns for what one would do: an event costs twice the processor time.",
    ),
    Mutant(
        "lanes-are-never-handed-back",
        "deliveries/engine/standing_by.py",
        "now >= self._little_from and not first",
        "False",
        "After a peak all loops go on taking turns, with two or three events each.",
    ),
    Mutant(
        "addresses-of-another-turn",
        "deliveries/engine/lending.py",
        "if known is None or not known.keys() >= claims.rooms.keys():",
        "if known is None:",
        "What was to be claimed as the database went away waits for another event.",
    ),
    Mutant(
        "always-brief",
        LANE_BOOK,
        "if now < self._brief_until:",
        "if True:",
        "A backlog with nobody beside it is sent more slowly than it could be.",
    ),
    Mutant(
        "missed-are-looked-for-among-lanes",
        LANES,
        "WHERE NOT EXISTS (SELECT FROM deliveries_lane WHERE webhook_id = part.webhook_id)\n"
        "    AND",
        "WHERE",
        "Every loop wakes up webhooks that others work on, over and over.",
    ),
    Mutant(
        "unheard-claims-are-kept",
        TURNS,
        "self._unheard = False, True\n",
        "self._unheard = False, False\n",
        "What was claimed as the connection to the database ended waits for 30 seconds or more.",
    ),
    Mutant(
        "own-absence-is-a-failure",
        LOOP,
        "unseen = over_time and",
        "unseen = False and",
        "A stall of ours counts as failures of every receiver.",
    ),
    Mutant(
        "own-absence-in-a-wait-not-noticed",
        LOOP,
        "            self.presence.notice(patience)\n",
        "            self.presence._seen_at = time.monotonic()\n",
        "A stall of ours counts as failures of every receiver.",
    ),
    Mutant(
        "lost-deliveries-go-out",
        LOOP,
        "lambda key: lease(cast(Sent, key).delivery.claim)",
        "lambda key: True",
        "After a stall of ours, what others have sent by then is sent twice.",
    ),
    Mutant(
        "unrecorded-without-end",
        LOOP,
        " and len(self.results) < ENOUGH_RESULTS",
        "",
        "Where the network is faster than the database, a kill has thousands sent again.",
    ),
    Mutant(
        "silent-database-waited-for",
        BESIDE,
        "            raise TimeoutError\n",
        "            return READ\n",
        "A database that says nothing any more is waited for until the kernel gives up.",
    ),
    Mutant(
        "stale-claims-are-sent",
        LOOP,
        "if delivery.claimed_at < stale:",
        "if False:",
        "A claim ends during its attempt: deliveries are sent twice.",
    ),
    Mutant(
        "lanes-kept-until-the-last-answer",
        LOOP,
        "            self.book.release_free(turn)\n",
        "            pass\n",
        "A deploy has all webhooks of a loop wait for its slowest receiver.",
    ),
    Mutant(
        "no-lease-while-it-stops",
        LOOP,
        "turn.writes or (stopping and self.database.lease_is_due(now))",
        "turn.writes",
        "A loop that waits for its last answer is taken for lost, and that is sent again.",
    ),
    Mutant(
        "held-claims-kept-at-stop",
        LOOP,
        "if quiet:\n                self.back += self.book.drop_all()",
        "if quiet:\n                self.book.drop_all()",
        "After a restart, what was claimed waits for 30 seconds.",
    ),
    Mutant(
        "silence-not-kept",
        LOOP,
        "self.book.silent.add(lane.webhook_id)",
        "pass",
        "A receiver that answers 410 or asks for rest gets the next requests all the same.",
    ),
    Mutant(
        "bell-not-heard",
        LOOP,
        "if self.transport.rung and self.bell.silence():",
        "if self.transport.rung and self.bell.silence() and False:",
        "A new event waits for up to a second.",
    ),
    Mutant(
        "window-grows-under-queueing",
        PACE,
        "if mean > allowed:",
        "if mean > 100 * allowed:",
        "A small receiver is trampled.",
    ),
    Mutant(
        "company-threshold-off",
        ROOMS,
        "if self._of_company.get(lane.company_id, 0) >= free:",
        "if free <= 0:",
        "One company takes every slot.",
    ),
    Mutant(
        "slow-half-off",
        ROOMS,
        "if lane.pace.slow and self._slow_room(lane) <= 0:",
        "if lane.pace.slow and self.slow_in_flight >= SLOTS:",
        "Slow receivers take every slot.",
    ),
    Mutant(
        "dead-host-off",
        ROOMS,
        "return not (lane.host.dead and lane.host.in_flight)",
        "return True",
        "A dead host holds as many slots as it has webhooks.",
    ),
    Mutant(
        "companies-take-no-turns",
        ROUND_ROBIN,
        "self._companies[company_id] = lanes\n",
        "self._companies = {company_id: lanes, **self._companies}\n",
        "One company's backlog goes first, the others wait.",
    ),
    Mutant(
        "what-cannot-be-sent-counts",
        ROOMS,
        "return ENOUGH_HELD - quick, SLOW",
        "return ENOUGH_HELD - self.holding, SLOW",
        "What is claimed for receivers that have fallen silent holds up everybody else.",
    ),
    Mutant(
        "slow-ones-are-claimed-without-end",
        ROOMS,
        "FIRST_SLOTS - self.slow_in_flight - slow",
        "FIRST_SLOTS",
        "Thousands of deliveries wait in a loop that has no slot for them.",
    ),
    Mutant(
        "strangers-have-every-place",
        ROOMS,
        "return min(1, room + FIRST_SLOTS)",
        "return room",
        "A company that has been quiet waits until the time-outs of webhooks that nobody knows.",
    ),
)
