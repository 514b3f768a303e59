"""The tests' settings, with two samples in the table of statuses and a database of their own."""

import os

from tests.further_status import row

row.add()

from tests.settings import *  # noqa: F403, E402
from tests.settings import DATABASES  # noqa: E402

DATABASES["default"]["TEST"] = {"NAME": f"test_further_status_{os.getpid()}"}
