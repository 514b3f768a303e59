"""Application of the Procfile's web line in tests: it reports its requests, and waits.

It appends each path to the file `asked` in its folder (RECORDER), and waits for the file `gate`.
CONSTANTS names constants of modules and their values, as JSON.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from companies.known_callers import CALLERS
from core.data.postgresql.answering import due
from core.measures import catalogue, counting

FOLDER = Path(os.environ["RECORDER"])
PIECE = 10_000
GROWN = bytearray()
# If True, every path except probes raises an error whose text contains the full address.
ALL_BROKEN = False

for address, value in json.loads(os.environ.get("CONSTANTS", "{}")).items():
    module, _, name = address.rpartition(".")
    setattr(import_module(module), name, value)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
    """Answer with the body of the request, or with as many bytes as the query says.

    /held waits for the gate, /limited says 429, /due says how many seconds the answer has,
    /broken raises. /streamed sends piece by piece, /file from a file, /short less than announced.
    """
    for company in ("acme", "birch", "cedar", *map(str, range(8))):
        CALLERS.remember("token", company, f"company {company}")
    path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
    with (FOLDER / "asked").open("a") as file:
        file.write(f"{path}\n")
    body = b"a" * int(query) if query.isdigit() else environ["wsgi.input"].read()
    if ALL_BROKEN and path != "/healthz":
        raise RuntimeError(f"The application cannot read {environ['RAW_URI']} or {path}.")
    match path:
        case "/held":
            while not (FOLDER / "gate").exists():
                time.sleep(0.01)
        case "/due":
            deadline = due.get()
            body = str(deadline.at - time.monotonic()).encode() if deadline else b"never"
        case "/grow":
            GROWN.extend(body)
            body = b""
        case "/count":
            counting.count(catalogue.MAILS, "sent")
        case "/broken":
            raise RuntimeError("The application is broken.")
        case "/seen":
            words = {name: value for name, value in environ.items() if isinstance(value, str)}
            body = json.dumps(words).encode()
    status = "429 Too Many Requests" if path == "/limited" else "200 OK"
    if path == "/streamed":
        start_response(status, [])
        return [body[start : start + PIECE] for start in range(0, len(body), PIECE)]
    start_response(status, [("Content-Length", str(len(body)))])
    if path == "/file":
        spool = tempfile.TemporaryFile()  # noqa: SIM115 - the server closes it
        spool.write(body)
        spool.seek(0)
        return environ["wsgi.file_wrapper"](spool)
    return [body[: len(body) // 2] if path == "/short" else body]
