"""Entry point of `./dev` inside `.venv`, run by bootstrap."""

import signal
import sys

# Ctrl-C during imports should not print a traceback, as in `dev`.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from tools.dev.main import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
