"""Name server that never answers for names that begin with `dead`.

`python -m tools.bench.name_server LISTEN ADDRESS` prints `ready`, then answers with ADDRESS for all
other names.
"""

import socket
import struct
import sys

A, CLASS_IN, SECONDS_TO_LIVE = 1, 1, 5
# An answer, recursion available, no error.
FLAGS = b"\x81\x80"
# Compression pointer to the name in the question, at offset 12.
SAME_NAME = b"\xc0\x0c"


def reply(query: bytes, address: str) -> bytes | None:
    """Build the answer to a query; None for no answer. Only A records exist."""
    label = query[13 : 13 + query[12]]
    if label.startswith(b"dead"):
        return None
    end = query.index(b"\0", 12) + 5
    record = b""
    if query[end - 4 : end] == struct.pack("!HH", A, CLASS_IN):
        fixed = struct.pack("!HHIH", A, CLASS_IN, SECONDS_TO_LIVE, 4)
        record = SAME_NAME + fixed + socket.inet_aton(address)
    counts = struct.pack("!HHHH", 1, 1 if record else 0, 0, 0)
    return query[:2] + FLAGS + counts + query[12:end] + record


def main(listen: str, address: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((listen, 53))
        print("ready", flush=True)
        while True:
            query, sender = server.recvfrom(1024)
            if answer := reply(query, address):
                server.sendto(answer, sender)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
