"""Faults in what is logged and traced."""

from faults.broken import Mutant

BOUND = "companies/log_bound.py"
ACCESS = "config/access_log.py"

LOGS_OF_COMPANIES = (
    Mutant(
        "flood-without-a-bound",
        BOUND,
        "if self.lines <= MOST_LINES:",
        "if self.lines:",
        "A receiver that fails fills the disk.",
    ),
    Mutant(
        "left-out-in-silence",
        BOUND,
        "        if self.left_out:\n",
        "        if not self.left_out:\n",
        "An operator believes that fifty deliveries failed, and it was a million.",
    ),
)
LOGS_OF_DELIVERIES = (
    Mutant(
        "successes-are-logged-as-failures",
        "deliveries/engine/attempt_log.py",
        "(failed and ATTEMPTS",
        "(ATTEMPTS",
        "The log is as long as the traffic.",
    ),
    Mutant(
        "rests-at-every-probe",
        "deliveries/engine/recording.py",
        "SELECT webhook_id FROM rest WHERE rests = 1",
        "SELECT webhook_id FROM rest",
        "A receiver that is away has a line every few minutes.",
    ),
    Mutant(
        "attempts-without-their-request",
        "deliveries/engine/judging.py",
        "        request_id=delivery.request_id,\n",
        "",
        "Nobody finds the attempts of a call.",
    ),
)
LOGS_OF_CONFIG = (
    Mutant(
        "path-with-what-opens-it",
        ACCESS,
        "return SIGNED not in part and",
        "return",
        "Who reads the log can open a company's file for an hour.",
    ),
    Mutant(
        "desk-user-looked-up-for-the-log",
        ACCESS,
        "type(user) is Company",
        "isinstance(user, Company)",
        "Every page costs a session more.",
    ),
    Mutant(
        "whatever-hangs-on-a-record",
        "config/logs.py",
        "{name: more[name] for name in FIELDS if more.get(name) is not None}",
        "{name: value for name, value in more.items() if name not in line}",
        "Requests with their headers are written to the log.",
    ),
    Mutant(
        "task-without-its-request",
        "config/celery.py",
        'str(rung_with.get(request_ids.CELERY_HEADER) or "")',
        '""',
        "What a task does for a call cannot be told from what it does for others.",
    ),
    Mutant(
        "exceptions-with-their-rows",
        "config/error_reports.py",
        'text.partition("\\n")[0][:LONGEST_WORDS]',
        "text[:LONGEST_WORDS]",
        "Rows of the database leave the house with an error.",
    ),
    Mutant(
        "trace-begins-anew",
        "config/request_traces.py",
        "            parent=given,\n",
        "",
        "A caller's trace ends at our door.",
    ),
)
