"""The tests' settings, with samples in the two tables, and a database of their own."""

import os

from tests.further import rows

rows.add()

from tests.settings import *  # noqa: F403, E402
from tests.settings import DATABASES  # noqa: E402

DATABASES["default"]["TEST"] = {"NAME": f"test_further_{os.getpid()}"}
