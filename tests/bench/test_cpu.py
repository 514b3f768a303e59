import os
import subprocess
import sys

from tools.bench.cpu import TICKS_PER_SECOND, Meter

BURN = "import time\nwhile time.process_time() < 0.2: pass"

# Largest rounding error: the kernel cuts each of the four added figures to whole ticks.
CUT = 4 / TICKS_PER_SECOND


def test_children_that_have_ended_are_counted() -> None:
    meter = Meter({"us": os.getpid(), "nobody": 0})

    subprocess.run([sys.executable, "-c", BURN], check=True)

    used, seconds = meter.read()
    assert used["us"] >= 0.2 - CUT
    assert used["nobody"] == 0
    assert seconds > 0


def test_cpu_time_of_other_processes_is_not_counted() -> None:
    burning = subprocess.Popen([sys.executable, "-c", BURN])
    idle = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    try:
        meter = Meter({"idle": idle.pid})
        burning.wait()
        assert meter.read()[0]["idle"] < 0.2 - CUT
    finally:
        burning.wait()
        idle.communicate()
