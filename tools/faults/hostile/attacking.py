"""The attacker, in a process of its own, so that what it costs is not the measurer's time.

`python -m tools.faults.hostile.attacking NAME` reads a Target as JSON on standard input, says
`ready` when its receivers listen and its webhooks are registered, and attacks until it is killed.
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
        except Exception:  # whatever the service does to an attacker
            time.sleep(0.05)


if __name__ == "__main__":
    main()
