"""Attacker, in a process of its own, so that it does not take time from the measurement.

`python -m tools.faults.hostile.attacking NAME` reads a Target as JSON on standard input, prints
`ready` once its receivers listen and its webhooks are registered, and attacks until it is killed.
"""

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from tools.faults.hostile import attacks, strangers
from tools.faults.hostile.target import Target

ATTACKS: dict[str, Callable[[Target], Callable[[], None] | None]] = {
    **attacks.ATTACKS,
    **strangers.ATTACKS,
}


def main() -> None:
    target = Target(**json.load(sys.stdin))
    blow = ATTACKS[sys.argv[1]](target)
    print("ready", flush=True)
    if blow:
        for _ in range(target.parallel):
            threading.Thread(target=forever, args=(blow,), daemon=True).start()
    while True:
        time.sleep(60)


def forever(blow: Callable[[], Any]) -> None:
    while True:
        try:
            blow()
        except Exception:  # the service may refuse or cut off an attacker in any way
            time.sleep(0.05)


if __name__ == "__main__":
    main()
