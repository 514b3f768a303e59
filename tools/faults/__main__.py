"""Entry point of `tools/faults/run` inside `.venv`: private servers, then the scenario."""

import os
import shutil
import sys

import django

from tools.dev.places import throwaway_place
from tools.faults import playing
from tools.faults.environment import on_own_servers


def main() -> int:
    if sys.argv[1:2] == ["all"]:
        # Each of its scenarios and test runs starts servers of its own.
        return playing.run(sys.argv[2:])
    place = throwaway_place("parceldesk-fault-")
    try:
        os.environ.update(on_own_servers(place))
        django.setup()
        # Models can be imported only after setup.
        from tools.faults.running import run

        return run(sys.argv[1:], place)
    finally:
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
