"""The other way to tell open desks: a process of its own that listens and pushes, to be compared.

It is the least that such a process can do: it knows nobody's session and sends a line to whoever
has the ticket open. `python -m bench.stream PORT DATABASE_URL`.
"""

import asyncio
import sys
from collections import defaultdict

import psycopg

CHANNEL = "desk_live"
TRIGGER = f"""
CREATE FUNCTION bench_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('{CHANNEL}', NEW.ticket_id || '-' || NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER bench_tell AFTER INSERT ON tickets_comment
  FOR EACH ROW EXECUTE FUNCTION bench_tell();
"""
NO_TRIGGER = "DROP TRIGGER bench_tell ON tickets_comment; DROP FUNCTION bench_tell();"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n"
SIGN_OF_LIFE_SECONDS = 15

watching: defaultdict[str, set[asyncio.StreamWriter]] = defaultdict(set)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Keep a desk that asks for a ticket until it goes away."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return  # gone before it asked for anything
    ticket = head.split(b" ", 2)[1].decode().rpartition("=")[2]
    watching[ticket].add(writer)
    writer.write(HEAD)
    await reader.read()
    watching[ticket].discard(writer)


async def listen(database: str) -> None:
    opened = await psycopg.AsyncConnection.connect(database, autocommit=True)
    await opened.execute(f"LISTEN {CHANNEL}")
    async for told in opened.notifies():
        for writer in watching[told.payload.partition("-")[0]]:
            writer.write(f"data: {told.payload}\n\n".encode())


async def stay_alive() -> None:
    while True:
        await asyncio.sleep(SIGN_OF_LIFE_SECONDS)
        for writers in list(watching.values()):
            for writer in writers:
                writer.write(b":\n\n")


async def main(port: int, database: str) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    async with server:
        await asyncio.gather(server.serve_forever(), listen(database), stay_alive())


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
