"""`./dev` inside `.venv`: bootstrap comes here."""

import signal
import sys

# As in `dev`: Ctrl-C while modules are imported is nothing to print a traceback about.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from tools.dev.main import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
