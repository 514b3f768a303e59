"""Checks of the settings alone; each says what to do.

An app has its own in its module `checks`; `config.startup` knows them all. They query neither the
database, the broker, a mail server nor DNS, so that the service can start while those are away.
`config.startup` runs them before web and worker serve anybody; `manage.py` runs those whose
settings a command uses (config.command_settings). An Error stops whatever starts; a Warning is
printed and stops nothing.
"""

from django.core.checks import CheckMessage
from django.utils.module_loading import import_string

# The tag by which `config.startup` finds them.
SETTINGS = "settings"


class Use:
    """Tags of the settings that are used together."""

    KEYS = "keys"
    TOKENS = "tokens"
    BROKER = "broker"
    REQUESTS = "requests"
    FILES = "files"
    UPLOADS = "uploads"
    RETENTION = "retention"
    LANGUAGE = "language"
    LOGS = "logs"
    MAIL = "mail"
    SENDING = "sending"
    SIGN_ON = "sign_on"
    TARGETS = "targets"
    TICKETS = "tickets"
    DESK = "desk"


def import_problem(path: str) -> str:
    """Return what is wrong with the dotted path of a callable; "" if it can be imported."""
    try:
        return "" if callable(import_string(path)) else "is no function"
    except Exception as error:
        return f"cannot be imported: {error}"


def problem_line(problem: CheckMessage) -> str:
    return f"- {problem.id}: {problem.msg} {problem.hint}"
