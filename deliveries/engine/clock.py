"""Monotonic clock of the engine, in seconds.

Always call it as `clock.monotonic()`, so that the simulation can replace it.
"""

import time

monotonic = time.monotonic
