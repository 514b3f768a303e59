"""Entry point of a bench inside `.venv`: make a folder for the servers, set up Django, run."""

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
        # Processes refuse to start if DELIVERY_CA_BUNDLE does not exist.
        trustme.CA().cert_pem.write_to_path(os.environ["DELIVERY_CA_BUNDLE"])
        django.setup()
        # Models can be imported only after setup.
        return importlib.import_module("tools.bench.running").main(name, arguments, place)
    finally:
        # The worker half of this process may have been killed before its own cleanup.
        for folder in (place.files, place.sockets):
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
