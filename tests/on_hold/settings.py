"""The tests' settings, with "On hold" in the table of statuses and a database of their own."""

import os

from tests.on_hold import row

row.add()

from tests.settings import *  # noqa: F403, E402
from tests.settings import DATABASES  # noqa: E402

DATABASES["default"]["TEST"] = {"NAME": f"test_on_hold_{os.getpid()}"}
