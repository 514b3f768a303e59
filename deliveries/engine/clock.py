"""The clock of the engine: seconds that only go forward, whatever the wall clock does.

Read as `clock.monotonic()`, so that the simulation can put another clock in its place.
"""

import time

monotonic = time.monotonic
