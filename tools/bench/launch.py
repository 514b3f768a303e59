"""Start of this folder's scripts before there is a `.venv`; must parse on old Pythons."""

import signal
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - may well run on an older Python
    sys.exit("bench: Python 3.11 or newer is needed; try: python3.11 " + sys.argv[0])
if sys.platform != "linux":
    sys.exit("bench: Linux is needed, since processor time is read from /proc")

# Ctrl-C ends the process without a traceback until there is something to clean up.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from tools.dev import bootstrap  # noqa: E402


def launch(name: str) -> None:
    """Run a scenario inside `.venv`."""
    bootstrap.run_module("tools.bench", [name, *sys.argv[1:]])
