"""A bench inside `.venv`: a folder for the servers, Django made ready, then the scenario."""

import importlib
import os
import shutil
import sys

import django
import trustme

from tools.dev.places import throwaway_place
from tools.faults.environment import on_own_servers

PREFIX = "parceldesk-bench-"


def main(name: str, arguments: list[str]) -> int:
    place = throwaway_place(PREFIX)
    try:
        os.environ.update(on_own_servers(place))
        # No process starts without the authorities that it is told to trust.
        trustme.CA().cert_pem.write_to_path(os.environ["DELIVERY_CA_BUNDLE"])
        django.setup()
        # Models can be imported from here on and not before.
        return importlib.import_module("tools.bench.running").main(name, arguments, place)
    finally:
        # Also what is left when the other half of us was killed.
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
