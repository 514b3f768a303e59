"""Catalogue of all measures; each one defined here is shown.

docs/operations/metrics.md describes them to operators. Current numbers are gauges instead
(core.measures.gauges).
"""

from core.measures.counting import CountMeasure, TimeMeasure

# Seconds, from an answer of the same host up to DELIVERY_TIMEOUT_SECONDS.
ANSWERING = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# Seconds, for an event that is sent at once up to one that has waited for a day.
WAITING = (*ANSWERING[1:], 60.0, 300.0, 3600.0, 86400.0)

DELIVERY_ATTEMPTS = CountMeasure(
    "delivery_attempts",
    "Requests to receivers. error: the kind of status, or what came instead of an answer",
    ("outcome", "error"),
)
ATTEMPT_DURATION = TimeMeasure(
    "delivery_attempt_duration_seconds",
    "From the beginning of a request to its answer, or to its failure",
    ANSWERING,
    ("outcome",),
)
DELIVERY_LATENCY = TimeMeasure(
    "delivery_latency_seconds",
    "From the storing of an event to its receiver's 2xx, at the first attempt",
    WAITING,
)
DELIVERIES_FINISHED = CountMeasure(
    "deliveries_finished",
    "Deliveries that are not tried again by themselves",
    ("outcome",),
    from_zero=(("set_aside",),),
)
LOOPS_LOST = CountMeasure(
    "engine_loops_lost", "Engine loops that ended without a word, and were taken over by others"
)
WEBHOOKS_HELD_BACK = CountMeasure(
    "webhooks_held_back", "Times that a webhook had to wait since its secrets cannot be read"
)
SAMPLE_SENDS = CountMeasure(
    "sample_sends", "Test sends that companies asked for, each request of them", ("outcome",)
)
API_REQUESTS = CountMeasure(
    "api_requests",
    "Answers of the API and of the company's page. route: the pattern of the address",
    ("route", "method", "code"),
)
API_DURATION = TimeMeasure(
    "api_request_duration_seconds",
    "From a thread's beginning with such a request to its answer; class: as for rate limits",
    ANSWERING,
    ("class",),
)
DESK_REQUESTS = CountMeasure("desk_requests", "Answers of the desk", ("method", "code"))
DESK_DURATION = TimeMeasure(
    "desk_request_duration_seconds",
    "From a thread's beginning with a request of the desk to its answer",
    ANSWERING,
)
DOOR_REFUSALS = CountMeasure(
    "web_refusals", "Requests answered before the application: broken, slow or too many", ("code",)
)
THREAD_BUSY = CountMeasure("web_thread_busy_seconds", "Seconds that web threads worked, added up")
THREAD_WAIT = TimeMeasure(
    "web_thread_wait_seconds", "For how long a complete request waited for a thread", ANSWERING
)
LOGINS_REFUSED = CountMeasure(
    "logins_refused", "Sign-ins at the desk with a wrong password, or locked"
)
JOB_RUNS = CountMeasure("job_runs", "Runs of jobs that ended", ("name", "outcome"))
JOB_SECONDS = CountMeasure("job_run_seconds", "Seconds that runs of jobs took", ("name",))
ASSIGNMENTS = CountMeasure(
    "assignments", "Tries to find an agent for a ticket by the rule", ("outcome",)
)
FEED_LINES = CountMeasure("platform_feed_lines", "Lines of the platform's feed", ("result",))
MAILS = CountMeasure("mails", "Tries to send an email to a company", ("outcome",))
ROWS_FORGOTTEN = CountMeasure(
    "rows_forgotten", "Rows that retention has deleted; of a week that was dropped about", ("kind",)
)

ALL: tuple[CountMeasure | TimeMeasure, ...] = tuple(
    each for each in list(vars().values()) if isinstance(each, CountMeasure | TimeMeasure)
)
