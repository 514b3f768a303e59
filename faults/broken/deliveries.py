"""What is written down about deliveries, and what companies see of it."""

from faults.broken import Mutant
from faults.broken.engine import ENGINE
from faults.broken.logs import LOGS_OF_DELIVERIES
from faults.broken.loop import LOOP_AND_ROOMS

PUBLISHING = "deliveries/publishing.py"
RECORDING = "deliveries/engine/recording.py"
REDELIVERY = "deliveries/redelivery.py"
RENDERING = "deliveries/engine/rendering.py"

DELIVERIES = (
    *ENGINE,
    *LOOP_AND_ROOMS,
    *LOGS_OF_DELIVERIES,
    Mutant(
        "events-to-every-company",
        PUBLISHING,
        "JOIN listener USING (company_id, type_id)",
        "JOIN listener USING (type_id)",
        "Each company gets the events of all companies.",
    ),
    Mutant(
        "events-to-every-type",
        PUBLISHING,
        "JOIN listener USING (company_id, type_id)",
        "JOIN listener USING (company_id)",
        "A webhook gets events of types that it did not ask for.",
    ),
    Mutant(
        "one-in-a-thousand-dropped",
        PUBLISHING,
        "JOIN listener USING (company_id, type_id)",
        "JOIN listener USING (company_id, type_id) WHERE event.id %% 1000 <> 0",
        "Now and then an event does not arrive.",
    ),
    Mutant(
        "publish-without-wakeup",
        PUBLISHING,
        "WHERE sent AND (company_id, type_id) IN (SELECT company_id, type_id FROM event)\n)",
        "WHERE false\n)",
        "New events wait for the sweep.",
    ),
    Mutant(
        "stream-runs-ahead",
        PUBLISHING,
        "return ask_number(SETTLED)",
        "return ask_number(NEWEST)",
        "A cursor passes events that are still to be committed.",
    ),
    Mutant(
        "fence-of-any-mode",
        PUBLISHING,
        "    AND mode = 'ShareLock'\n",
        "",
        "A lock that is no publisher's stops the stream of every company.",
    ),
    Mutant(
        "fence-off",
        RECORDING,
        " AND delivery.claimed_by = result.claim",
        "",
        "A worker that comes back late overwrites what is true.",
    ),
    Mutant(
        "retry-without-wakeup",
        RECORDING,
        "interval '1 second' FROM done WHERE state = 0",
        "interval '1 second' FROM done WHERE false",
        "A retry comes late.",
    ),
    Mutant(
        "next-of-shipment-without-wakeup",
        RECORDING,
        "SELECT webhook_id, due_at FROM woken\n",
        "SELECT webhook_id, due_at FROM woken WHERE false\n",
        "The next event of a shipment comes late.",
    ),
    Mutant(
        "rest-without-wakeup",
        RECORDING,
        "  INSERT INTO deliveries_wakeup (webhook_id, due_at) "
        "SELECT webhook_id, resting_until FROM rest",
        "  INSERT INTO deliveries_wakeup (webhook_id, due_at) "
        "SELECT webhook_id, resting_until FROM rest LIMIT 0",
        "A webhook is not looked at when its rest ends.",
    ),
    Mutant(
        "asked-rest-without-wakeup",
        RECORDING,
        "  RETURNING health.webhook_id, health.resting_until\n)\n"
        "INSERT INTO deliveries_wakeup (webhook_id, due_at) "
        "SELECT webhook_id, resting_until FROM rest",
        "  RETURNING health.webhook_id, health.resting_until\n)\n"
        "INSERT INTO deliveries_wakeup (webhook_id, due_at) TABLE rest LIMIT 0",
        "A webhook is not looked at when the rest that it asked for ends.",
    ),
    Mutant(
        "rest-doubles-within-a-rest",
        RECORDING,
        "    AND coalesce(resting_until <= statement_timestamp(), true)\n  RETURNING webhook_id,",
        "  RETURNING webhook_id,",
        "One burst of timeouts brings minutes of silence.",
    ),
    Mutant(
        "failures-count-beside-a-success",
        RECORDING,
        "if result.webhook_id not in well and not result.blameless:",
        "if result.state != DELIVERED and not result.blameless:",
        "A receiver that takes nearly everything is called failing.",
    ),
    Mutant(
        "rests-although-well",
        RECORDING,
        "if result.unreachable} - well",
        "if result.unreachable}",
        "A receiver that answers is left alone.",
    ),
    Mutant(
        "shorter-wish-cuts-a-rest",
        RECORDING,
        "greatest(\n      health.resting_until, statement_timestamp() + make_interval"
        "(secs => asked.rest))",
        "statement_timestamp() + make_interval(secs => asked.rest)",
        "A receiver that asked for five minutes is asked after one.",
    ),
    Mutant(
        "rests-too-soon",
        RECORDING,
        "FAILURES_BEFORE_REST = 3",
        "FAILURES_BEFORE_REST = 1",
        "A single timeout holds back everything.",
    ),
    Mutant(
        "step-not-counted",
        RECORDING,
        "CASE WHEN result.state = 1 OR result.keeps_place THEN 0 ELSE 1 END",
        "0",
        "Retries never end.",
    ),
    Mutant(
        "redelivers-every-webhook",
        "deliveries/upkeep/choosing.py",
        "webhooks = webhooks.filter(pk=choice.webhook_id)",
        "webhooks = webhooks.filter()",
        "To send one webhook's deliveries again sends what every company had given up.",
    ),
    Mutant(
        "replay-without-a-pause",
        "deliveries/upkeep/replaying.py",
        "next_at=Now() + STEP",
        "next_at=Now()",
        "A run sends all at once, whatever its rate.",
    ),
    Mutant(
        "replay-not-stopped",
        "deliveries/upkeep/replaying.py",
        'run.save(update_fields=["ended_at", "stopped_by"])',
        'run.save(update_fields=["stopped_by"])',
        "A run that is stopped goes on.",
    ),
    Mutant(
        "replay-forgets-its-place",
        "deliveries/upkeep/replaying.py",
        "at_event=reached.event,",
        "at_event=0,",
        "A run sends what it has sent already, for ever.",
    ),
    Mutant(
        "replay-unconfirmed",
        "deliveries/upkeep/replaying.py",
        "confirmed != chosen.deliveries",
        "confirmed is None",
        "A slip of the finger sends a million deliveries again.",
    ),
    Mutant(
        "redelivery-takes-what-is-in-flight",
        REDELIVERY,
        " AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())",
        "",
        "A delivery in flight is sent twice at once.",
    ),
    Mutant(
        "redelivery-without-wakeup",
        REDELIVERY,
        "SELECT DISTINCT webhook_id, statement_timestamp() FROM again",
        "SELECT DISTINCT webhook_id, statement_timestamp() FROM again WHERE false",
        "To send again does nothing until the sweep.",
    ),
    Mutant(
        "resumed-without-wakeup",
        "deliveries/catching_up.py",
        "SELECT webhook_id, coalesce(resting_until, statement_timestamp()) FROM mended",
        "SELECT webhook_id, statement_timestamp() FROM mended WHERE false",
        "A webhook that is resumed gets nothing until the sweep.",
    ),
    Mutant(
        "id-anew-on-repeat",
        RENDERING,
        '("X-Webhook-Id", delivery.id)',
        '("X-Webhook-Id", delivery.id[:: -1 if delivery.attempts else 1])',
        "Receivers cannot tell a repeat from a new event.",
    ),
    Mutant(
        "rotated-secret-never-signs",
        RENDERING,
        "THEN next_secret ELSE",
        "THEN secret ELSE",
        "After a rotation every signature is wrong.",
    ),
    Mutant(
        "next-secret-signs-at-once",
        RENDERING,
        "CASE WHEN next_secret_at <= statement_timestamp() THEN",
        "CASE WHEN next_secret_at IS NOT NULL THEN",
        "During a rotation signatures are wrong for receivers that have not changed yet.",
    ),
    Mutant(
        "one-poisons-the-batch",
        "deliveries/engine/setting_aside.py",
        "if len(results) > 1:",
        "if len(results) > 10_000:",
        "One bad row loses the results of 200.",
    ),
    Mutant(
        "pauses-whom-was-just-resumed",
        "deliveries/engine/pausing.py",
        "        .filter(Q(webhook__resumed_at=None) | Q(webhook__resumed_at__lt=before))\n",
        "",
        "A webhook that was resumed is paused again at once.",
    ),
    Mutant(
        "keeps-too-much-of-an-answer",
        "deliveries/http/answers.py",
        "MAX_BODY = 16 * 1024",
        "MAX_BODY = 64 * 1024",
        "The log grows four times as fast.",
    ),
    Mutant(
        "proxy-asked-before-the-guard",
        "deliveries/http/transport.py",
        "elif answer.error is not None:\n            self._end(",
        "elif answer.error is not None and self._proxy is None:\n            self._end(",
        "The proxy is asked for addresses that a company must not reach.",
    ),
    Mutant(
        "log-of-another-company",
        "deliveries/monitoring/log.py",
        "webhook__company=company",
        "webhook__company__isnull=False",
        "Whoever knows an id reads another company's delivery.",
    ),
    Mutant(
        "sample-with-anothers-token",
        "deliveries/on_demand/sample_delivery.py",
        "company.webhooks.present()",
        "Webhook.objects.present()",
        "A test delivery carries another company's token.",
    ),
    Mutant(
        "prunes-events-that-wait",
        "deliveries/upkeep/pruning.py",
        "oldest, after = min(oldest, found or oldest), last",
        "after = last",
        "What waits for long loses its body.",
    ),
)
