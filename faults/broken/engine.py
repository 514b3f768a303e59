"""What the engine asks of the database: who has which webhook, and what is claimed."""

from faults.broken import Mutant

BOOK = "deliveries/engine/lane_book.py"
CLAIMING = "deliveries/engine/claiming.py"
JUDGING = "deliveries/engine/judging.py"
LANES = "deliveries/engine/lanes.py"
LEASES = "deliveries/engine/leases.py"
LENDING = "deliveries/engine/lending.py"
TURNS = "deliveries/engine/turns.py"

ENGINE = (
    Mutant(
        "busy-webhooks-given-away",
        BOOK,
        "elif not (lane.in_flight or lane.claiming or lane.held):",
        "elif True:",
        "Two loops send to one webhook at once, beyond its max_in_flight.",
    ),
    Mutant(
        "given-webhooks-are-orphans",
        LEASES,
        """        cursor.execute(FREE, {"loops": [loop_id]})""",
        "        pass",
        "A webhook that was given to a loop just before it ended is never sent to again.",
    ),
    Mutant(
        "nobody-asked-for-a-place",
        LEASES,
        """            cursor.execute(ASK_FOR_PLACE, {"worker": worker})
""",
        "",
        "Whichever worker starts first does all the work.",
    ),
    Mutant(
        "order-off",
        CLAIMING,
        "AND head.event_id < candidate.event_id",
        "AND head.event_id < 0",
        "Events of one shipment arrive in any order.",
    ),
    Mutant(
        "claim-too-long",
        CLAIMING,
        "LEASE_TIMEOUTS = 6",
        "LEASE_TIMEOUTS = 60",
        "A claim that nobody keeps holds its delivery for five minutes.",
    ),
    Mutant(
        "claim-too-short",
        CLAIMING,
        "LEASE_TIMEOUTS = 6",
        "LEASE_TIMEOUTS = 1",
        "A claim ends during its attempt: deliveries are sent twice.",
    ),
    Mutant(
        "lost-loop-claims",
        CLAIMING,
        "WHERE id = %(loop)s::uuid AND NOT lost)",
        "WHERE id = %(loop)s::uuid)",
        "A loop that was given up goes on claiming: two loops send for one webhook.",
    ),
    Mutant(
        "retries-of-lost-loop-wait",
        CLAIMING,
        "OR claimed_by = ANY(ARRAY(SELECT id FROM deliveries_loop WHERE lost)))\n"
        "    ORDER BY due_at, event_id\n",
        ")\n    ORDER BY due_at, event_id\n",
        "Retries that a killed worker had claimed wait for 30 seconds.",
    ),
    Mutant(
        "parked-has-no-wakeup",
        CLAIMING,
        "SELECT DISTINCT webhook_id, until FROM judged WHERE until IS NOT NULL",
        "SELECT DISTINCT webhook_id, until FROM judged WHERE false",
        "What waits behind another delivery is forgotten.",
    ),
    Mutant(
        "parked-too-long",
        CLAIMING,
        "LONGEST_PARK_SECONDS = 300",
        "LONGEST_PARK_SECONDS = 3000",
        "What waits behind another delivery is looked at after 50 minutes.",
    ),
    Mutant(
        "held-too-long",
        CLAIMING,
        "HOLD_SECONDS = 3600",
        "HOLD_SECONDS = 7200",
        "A failing delivery holds its shipment back for two hours.",
    ),
    Mutant(
        "crashes-not-counted",
        CLAIMING,
        "    crashes = candidate.crashes\n",
        "    crashes = 0\n",
        "A delivery that ends the worker is tried for ever, and nothing else is sent.",
    ),
    Mutant(
        "suspects-together",
        CLAIMING,
        "    THEN least(%(suspects)s, 1) ELSE %(suspects)s END\n",
        "    THEN %(suspects)s ELSE %(suspects)s END\n",
        "With one delivery that ends the worker all that were claimed with it are given up.",
    ),
    Mutant(
        "poisonous-webhook-goes-on",
        CLAIMING,
        "WHERE NOT suspects)",
        "WHERE true)",
        "A receiver that ends the worker makes new suspects at every crash.",
    ),
    Mutant(
        "every-loop-in-quarantine",
        "deliveries/engine/quarantine.py",
        "WHERE quarantine.loop_id = excluded.loop_id OR NOT EXISTS (",
        "WHERE true OR NOT EXISTS (",
        "One loop's poison counts against the suspects of another.",
    ),
    Mutant(
        "gives-back-what-is-not-its-own",
        CLAIMING,
        "\n  AND delivery.claimed_by = loan.claim",
        "",
        "A late loop ends the claim of another: deliveries are sent twice.",
    ),
    Mutant(
        "retry-after-of-503-ignored",
        JUDGING,
        "(HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)",
        "(HTTPStatus.TOO_MANY_REQUESTS,)",
        "An overloaded receiver is asked again after 5 seconds.",
    ),
    Mutant(
        "own-fault-counts-as-the-receivers",
        JUDGING,
        "(None, Failure.INTERNAL, Failure.BAD_TARGET)",
        "(None,)",
        "A missing key of ours has a well receiver rest.",
    ),
    Mutant(
        "refusal-of-the-proxy-costs-a-rung",
        JUDGING,
        "result.keeps_place = delivery.pulled or barred",
        "result.keeps_place = delivery.pulled",
        "What our own proxy forbids uses up the retries of a delivery.",
    ),
    Mutant(
        "lane-taken-by-two",
        LANES,
        "webhook_id IN (SELECT webhook_id FROM taken),",
        "true,",
        "Two loops send for one webhook: more requests than it asked for.",
    ),
    Mutant(
        "wakeup-of-anothers-lane-consumed",
        LANES,
        "SELECT at FROM due WHERE loop_id = %(loop)s::uuid",
        "SELECT at FROM due WHERE loop_id IS NOT NULL",
        "A loop swallows the wake-ups of another: deliveries wait for the sweep.",
    ),
    Mutant(
        "release-forgets-unfinished",
        LANES,
        "WHERE webhook_id = ANY(%(unfinished)s::bigint[])",
        "WHERE webhook_id = ANY(%(unfinished)s::bigint[]) AND false",
        "What is left at a restart waits for the sweep.",
    ),
    Mutant(
        "release-tells-nothing-unfinished",
        BOOK,
        "        if lane.due:\n            turn.unfinished",
        "        if not lane:\n            turn.unfinished",
        "What is left at a restart waits for the sweep.",
    ),
    Mutant(
        "no-fair-share-of-claims",
        BOOK,
        "share = max(1, budget // max(1, min(len(lanes), most)))",
        "share = max(1, budget)",
        "One customer's backlog is claimed first, the others wait.",
    ),
    Mutant(
        "lease-too-long",
        LEASES,
        "LEASE_SECONDS = 4.0",
        "LEASE_SECONDS = 40.0",
        "What a killed worker had claimed waits for 40 seconds.",
    ),
    Mutant(
        "lost-loop-renews",
        LEASES,
        "WHERE id = %(loop)s AND NOT lost",
        "WHERE id = %(loop)s",
        "A loop that was given up does not notice and keeps its lanes.",
    ),
    Mutant(
        "too-many-loops",
        LEASES,
        "WHERE ({RUNNING}) < %(most)s",
        "WHERE ({RUNNING}) <= %(most)s",
        "Two that start at once both get the last place.",
    ),
    Mutant(
        "lanes-of-lost-loop-sleep",
        LEASES,
        "SELECT webhook_id, statement_timestamp() FROM freed",
        "SELECT webhook_id, statement_timestamp() FROM freed WHERE false",
        "Webhooks of a killed worker wait for the sweep.",
    ),
    Mutant(
        "takes-over-after-own-absence",
        TURNS,
        "if silent and since < AWAY_SECONDS and (lost",
        "if silent and (lost",
        "After a stall of the database everything in flight is sent twice.",
    ),
    Mutant(
        "410-does-not-pause",
        TURNS,
        "pausing.pause_gone(webhook_id)",
        "pass",
        "A receiver that is gone is asked for ever.",
    ),
    Mutant(
        "probe-with-full-room",
        LENDING,
        "1 if claims.addresses[webhook_id].probe else room",
        "room",
        "A receiver that comes back from a rest gets all that waits at once.",
    ),
    Mutant(
        "unreadable-is-sent-all-the-same",
        LENDING,
        "if id not in unreadable}",
        "}",
        "A key that we lost burns the retries of every delivery that needs it.",
    ),
    Mutant(
        "unreadable-counts-as-failure",
        "deliveries/engine/setting_aside.py",
        "SELECT id, 0, 0, statement_timestamp()",
        "SELECT id, 1, 0, statement_timestamp()",
        "A receiver is called failing for a key that we lost.",
    ),
)
