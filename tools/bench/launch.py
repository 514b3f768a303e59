"""What the scripts of this folder do before there is a `.venv`; readable to old Pythons."""

import signal
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an old Python may well come here
    sys.exit("bench: Python 3.11 or newer is needed; try: python3.11 " + sys.argv[0])
if sys.platform != "linux":
    sys.exit("bench: Linux is needed, since processor time is read from /proc")

# Until there is something to tidy up, Ctrl-C ends it without a traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from tools.dev import bootstrap  # noqa: E402


def launch(name: str) -> None:
    """Go on inside `.venv` with a scenario."""
    bootstrap.run_module("tools.bench", [name, *sys.argv[1:]])
