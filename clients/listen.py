#!/usr/bin/env python3
"""Brings webhooks to a program on your own machine, where the service cannot call it.

    python3 listen.py --forward http://localhost:3000/hook --type 3 5

One file that needs Python 3.8 or newer and nothing else. It makes a webhook without a URL for each
type, fetches its events, and sends each to your program as the service would: the same headers, the
same signature, the same body, in the same order. Ctrl-C stops it and deletes the webhooks.

If your program is not running, events wait for it. If it answers with a failure, an event is sent
three times; then listen says so and goes on with the next one.

What listen makes is noted in a file until it is deleted. So the next start finds, and deletes, what
a killed one has left.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import signal
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from contextlib import suppress
from datetime import datetime, timezone
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any, Dict, Iterator, Mapping, NoReturn

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Json = Dict[str, Any]

# Seconds between polls: the interval grows up to SLOWEST while there are no new events.
FASTEST, SLOWEST = 1.0, 5.0
LONGEST_AWAY = 30.0
API_TIMEOUT = 30.0
RECEIVER_TIMEOUT = 30.0
SERVICE_WAITS = 5.0
WAITS_BETWEEN_TRIES = (1.0, 3.0)
# Events are signed when they are fetched, and receivers refuse an old signature.
FRESH_FOR = 60.0
PAGE = 20
# Windows locks this byte of a note, far beyond its text, so that others can read the text.
LOCKED_BYTE = 2**30
LOCAL = ("localhost", "127.0.0.1", "::1")


class Trouble(Exception):
    """Error that stops listen; the message says what to do about it."""


class Refused(Exception):
    """The service refused the request."""

    def __init__(self, status: int, answer: Any) -> None:
        details = answer if isinstance(answer, dict) else {}
        self.status = status
        self.code = details.get("code")
        super().__init__(str(details.get("message", answer))[:300])


class Away(Exception):
    """The service cannot answer now; `wait` is its Retry-After in seconds, or 0."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        self.wait = wait
        super().__init__(why)


class NotRunning(Exception):
    """No program listens at the URL that events are forwarded to."""


class Stop(BaseException):
    """Ctrl-C, or a signal with the same meaning."""


# The service


class Service:
    """Client for the part of the API that listen needs."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token
        handlers: list[urllib.request.BaseHandler] = [NoRedirects()]
        if urllib.parse.urlsplit(url).hostname in LOCAL:
            handlers.append(urllib.request.ProxyHandler({}))
        self.opener = urllib.request.build_opener(*handlers)

    def call(self, method: str, path: str, body: Json | None = None, key: str = "") -> Any:
        """Return the JSON of the answer. Raises Refused, or Away if a retry may help."""
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": "parceldesk-listen"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        try:
            with self.opener.open(request, timeout=API_TIMEOUT) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise self.failure(error) from error
        except ValueError as error:
            raise Away("its answer is not JSON; is this really the service?") from error
        except (OSError, http.client.HTTPException) as error:
            raise Away(str(getattr(error, "reason", error)) or type(error).__name__) from error

    def failure(self, error: urllib.error.HTTPError) -> Exception:
        """Convert an error response into Refused or Away."""
        with error:
            text = error.read().decode(errors="replace")
        if error.code == 429 or error.code >= 500:
            return Away(f"it answers {error.code}", retry_after(error.headers))
        # The first request with this Idempotency-Key is still running.
        if error.code == 409 and "Retry-After" in error.headers:
            return Away("it is still at work on the same request", retry_after(error.headers))
        if 300 <= error.code < 400:
            return Refused(error.code, f"it is now at {error.headers.get('Location')}")
        try:
            return Refused(error.code, json.loads(text))
        except ValueError:
            return Refused(error.code, text)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Handler that follows no redirect, which would leak the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


def retry_after(headers: Message) -> float:
    """Return the seconds to wait by Retry-After, a number or a date; 0 without the header."""
    value = (headers.get("Retry-After") or "").strip()
    if value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
        return max(0.0, (until - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError, IndexError):
        return 0.0


# Notes on this machine


class Session:
    """Webhooks of one run, and the note that lets a later run find what this one has left.

    The note stays locked as long as the run lives. A webhook is noted before it is created, with
    the Idempotency-Key of that request: repeating the request returns the webhook's id.
    """

    def __init__(self, path: Path, file: IO[str], note: Json) -> None:
        self.path = path
        self.file = file
        self.note = note

    @property
    def webhooks(self) -> list[Json]:
        webhooks: list[Json] = self.note["webhooks"]
        return webhooks

    def types(self) -> list[int]:
        return sorted(webhook["type"] for webhook in self.webhooks)

    def write(self) -> None:
        self.file.seek(0)
        self.file.write(json.dumps(self.note))
        self.file.truncate()
        self.file.flush()

    def add(self, service: Service, type_id: int) -> None:
        """Create a webhook without a URL."""
        webhook = {"type": type_id, "key": f"listen-{uuid.uuid4()}", "id": None, "cursor": None}
        self.webhooks.append(webhook)
        self.write()
        try:
            self.identify(service, webhook)
        except Refused:
            self.forget(webhook)
            raise

    def identify(self, service: Service, webhook: Json) -> None:
        """Create the webhook, or fetch the one that the first request has created."""
        body = {"type_id": webhook["type"], "url": None}
        created = service.call("POST", "/webhooks", body, webhook["key"])["data"]
        webhook.update(id=created["id"], secret=created.get("secret"))
        self.write()

    def delete(self, service: Service, webhook: Json) -> None:
        """Delete a webhook at the service and in the note; it may be deleted already."""
        with suppress(Refused):
            if webhook["id"] is None:
                self.identify(service, webhook)
            service.call("DELETE", f"/webhooks/{webhook['id']}")
        self.forget(webhook)

    def forget(self, webhook: Json) -> None:
        self.webhooks.remove(webhook)
        self.write()

    def end(self, service: Service) -> None:
        """Delete every webhook, and the note. Raises Away if the service cannot answer."""
        for webhook in list(self.webhooks):
            self.delete(service, webhook)
        self.close()
        # Windows cannot remove a note while another process has it open.
        with suppress(OSError):
            self.path.unlink()

    def close(self) -> None:
        self.file.close()


def notes_folder() -> Path:
    """Return the folder of notes, readable for the user alone: notes hold webhook secrets."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    folder = base / "parceldesk-listen"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def account_of(service: Service) -> str:
    """Return a digest that identifies the service and token without revealing the token."""
    return hashlib.sha256(f"{service.url} {service.token}".encode()).hexdigest()


def lock(file: IO[str]) -> bool:
    """Lock a note until this process ends; return False if another process holds the lock."""
    try:
        if sys.platform == "win32":
            # --print-secret reads the text while listen runs, so lock a byte far beyond it.
            os.lseek(file.fileno(), LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            os.lseek(file.fileno(), 0, os.SEEK_SET)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def new_session(service: Service) -> Session:
    path = notes_folder() / f"{uuid.uuid4()}.json"
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "r+")
    while not lock(file):
        time.sleep(0.01)  # another process is checking this note
    session = Session(path, file, {"account": account_of(service), "keep": False, "webhooks": []})
    session.write()
    return session


def left_behind(service: Service) -> Iterator[Session]:
    """Yield sessions of this service and token that no process runs."""
    for path in sorted(notes_folder().glob("*.json")):
        try:
            file = path.open("r+")
        except OSError:
            continue  # its owner has just deleted it
        if lock(file):
            with suppress(ValueError):
                note = read_note(file)
                if note["account"] == account_of(service):
                    yield Session(path, file, note)
                    continue
        file.close()


def read_note(file: IO[str]) -> Json:
    """Read a note. Raises ValueError if it is not written yet."""
    # A process killed while writing leaves the tail of the older note after the first value.
    note: Json = json.JSONDecoder().raw_decode(file.read())[0]
    return note


def running_webhooks(service: Service) -> dict[int, Json]:
    """Find the webhooks of the listen that runs now with this service and token, by type."""
    webhooks: dict[int, Json] = {}
    for path in sorted(notes_folder().glob("*.json")):
        with suppress(OSError, ValueError), path.open("r+") as file:
            if lock(file):
                continue  # no process runs it
            note = read_note(file)
            if note["account"] == account_of(service):
                webhooks.update({each["type"]: each for each in note["webhooks"] if each["id"]})
    return webhooks


def clean_up(service: Service, *, kept_too: bool = False) -> None:
    """Delete the webhooks that earlier runs have left; those of --keep only with `kept_too`."""
    for session in left_behind(service):
        if session.note["keep"] and not kept_too:
            session.close()
            continue
        ids = [str(webhook["id"]) for webhook in session.webhooks if webhook["id"]]
        session.end(service)
        if ids:
            warn(f"deleted what an earlier listen had left: webhook {', '.join(ids)}")


def kept_session(service: Service, types: list[int]) -> Session | None:
    """Return a session of exactly these types that an earlier run kept, or None."""
    for session in left_behind(service):
        if session.note["keep"] and session.types() == types:
            return session
        session.close()
    return None


# The program that events are forwarded to


class Answer:
    """Response of the program; status 0 if there was none."""

    def __init__(self, status: int, started: float, text: str) -> None:
        self.status = status
        self.seconds = time.monotonic() - started
        self.text = "".join(each if each.isprintable() else " " for each in text)[:200].strip()

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def worth_another_try(self) -> bool:
        return self.status in (0, 429) or self.status >= 500


class Receiver:
    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self.url = url
        self.parts = urllib.parse.urlsplit(url)
        self.headers = headers

    def connect(self) -> http.client.HTTPConnection:
        host, port = self.parts.hostname or "", self.parts.port
        if self.parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=RECEIVER_TIMEOUT)
        context = ssl.create_default_context()
        if host in LOCAL:
            # Certificates for localhost are mostly self-signed.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(host, port, timeout=RECEIVER_TIMEOUT, context=context)

    def send(self, event: Json) -> Answer:
        """Send an event once. Raises NotRunning if nothing listens there."""
        connection, started = self.connect(), time.monotonic()
        body = event["body"].encode()
        path = urllib.parse.urlunsplit(("", "", self.parts.path or "/", self.parts.query, ""))
        headers = {**event["headers"], **self.headers, "Content-Length": str(len(body))}
        try:
            connection.putrequest("POST", path, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            text = answer.read(1000).decode(errors="replace")
            return Answer(answer.status, started, text)
        except ConnectionRefusedError as error:
            raise NotRunning from error
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, started, str(error) or type(error).__name__)
        finally:
            connection.close()


# Listening


class Listener:
    """Loop that fetches events and forwards them until something stops it."""

    def __init__(self, service: Service, session: Session, receiver: Receiver) -> None:
        self.service = service
        self.session = session
        self.receiver = receiver
        # Events of each webhook's current page that were forwarded or skipped.
        self.handled: dict[int, list[str]] = {webhook["id"]: [] for webhook in session.webhooks}
        self.accepted = self.failed = 0
        self.hinted = False

    def run(self) -> NoReturn:
        """Poll for events forever. Raises Trouble if polling again cannot help."""
        pace, away, waiting = FASTEST, 0.0, False
        while True:
            came = 0
            try:
                for webhook in self.session.webhooks:
                    came += self.forward_news(webhook)
                waiting = False
            except Away as error:
                away = min(max(away * 2, 1.0), LONGEST_AWAY)
                wait = max(away, error.wait)
                warn(f"the service does not answer ({error}); asking again in {wait:.0f} s")
                time.sleep(wait)
                continue
            except NotRunning:
                if not waiting:
                    warn(f"nobody listens at {self.receiver.url}; events wait until you start it")
                waiting = True
            if away:
                warn("the service answers again")
                away = 0.0
            pace = FASTEST if came else min(pace * 1.25, SLOWEST)
            time.sleep(pace)

    def forward_news(self, webhook: Json) -> int:
        """Forward a webhook's new events page by page; return their number."""
        came = 0
        while True:
            page, fetched = self.fetch(webhook), time.monotonic()
            handled = self.handled[webhook["id"]]
            for event in page["data"]:
                if event["id"] in handled:
                    continue
                self.forward(event)
                handled.append(event["id"])
                came += 1
                if time.monotonic() - fetched > FRESH_FOR:
                    return came
            webhook["cursor"] = page["next_cursor"]
            self.session.write()
            handled.clear()
            if len(page["data"]) < PAGE:
                return came

    def fetch(self, webhook: Json) -> Json:
        """Return the next page of a webhook's events."""
        query = {"limit": PAGE, **({"after": webhook["cursor"]} if webhook["cursor"] else {})}
        path = f"/webhooks/{webhook['id']}/events?{urllib.parse.urlencode(query)}"
        try:
            page: Json = self.service.call("GET", path)
        except Refused as error:
            if error.status == 404:
                why = f"webhook {webhook['id']} has been deleted elsewhere; start listen again"
                raise Trouble(why) from error
            if error.status == 410 and webhook["cursor"]:
                warn(f"{error} Beginning again with the oldest event that is still stored")
                webhook["cursor"] = None
                return self.fetch(webhook)
            raise
        return page

    def forward(self, event: Json) -> None:
        """Send one event, with retries, and report each attempt."""
        for wait in (*WAITS_BETWEEN_TRIES, None):
            answer = self.receiver.send(event)
            self.tell(event, answer)
            if answer.good:
                self.accepted += 1
                return
            if wait is None or not answer.worth_another_try:
                break
            time.sleep(wait)
        self.failed += 1
        say(f"          not accepted; going on without {event['id']}")

    def tell(self, event: Json, answer: Answer) -> None:
        status = str(answer.status or "no answer")
        line = f"{event['event']}  {event['id']}  {status}  {answer.seconds * 1000:.0f} ms"
        if not answer.good and answer.text:
            line += f"  {answer.text}"
        if answer.seconds > SERVICE_WAITS:
            line += f"  (too slow: the service itself waits {SERVICE_WAITS:.0f} s)"
        say(f"{time.strftime('%H:%M:%S')}  {line}")
        if answer.status in (401, 403) and not self.hinted:
            self.hinted = True
            say(
                "          Does your program have the secret shown above? Does it verify the bytes"
                " of the body as they came, before any JSON parser?"
            )


# The command line


def say(text: str) -> None:
    print(text, flush=True)


def warn(text: str) -> None:
    print(f"listen: {text}", file=sys.stderr, flush=True)


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("listen.py", description=__doc__, formatter_class=formatter)
    add = parser.add_argument
    add("--forward", metavar="URL", help="where your program takes webhooks")
    add("--type", nargs="+", action="extend", help="event types, by id or name; 3 if none is named")
    add("--url", help="the service; else PARCELDESK_URL, else http://127.0.0.1:8000")
    add("--token", help="a test token; else PARCELDESK_TOKEN, which others cannot see in a list")
    add("--header", action="append", default=[], help="one more header, as 'Name: value'")
    add("--keep", action="store_true", help="keep webhooks and secrets for the next start")
    add(
        "--print-secret",
        action="store_true",
        help="print the signing secrets, of a running listen if there is one",
    )
    add("--clean-up", action="store_true", help="delete what earlier starts left or kept")
    options = parser.parse_args(arguments)
    options.url = options.url or os.environ.get("PARCELDESK_URL") or "http://127.0.0.1:8000"
    options.token = options.token or os.environ.get("PARCELDESK_TOKEN") or ""
    check(options)
    return options


def check(options: argparse.Namespace) -> None:
    """Validate the options before the first request. Raises Trouble."""
    if not options.token:
        raise Trouble("no token; set PARCELDESK_TOKEN to a test token, or name it with --token")
    if not (options.token.isascii() and options.token.isprintable()):
        raise Trouble("the token has characters that no token has; copy it again")
    if options.token.startswith("live_"):
        raise Trouble("this is a live token; listen is for trying, so give it one of test_")
    alone = options.print_secret or options.clean_up
    if not options.forward and not alone:
        raise Trouble("where to? add --forward http://localhost:3000/hook")
    for name, url in (("--url", options.url), ("--forward", options.forward)):
        if url and not (url.startswith(("http://", "https://")) and urllib.parse.urlsplit(url)[1]):
            raise Trouble(f"{name} is to be like http://localhost:3000/hook, not {url}")
    if any(":" not in header for header in options.header):
        raise Trouble("--header is to be like 'Authorization: Bearer abc'")


def wanted_types(service: Service, words: list[str]) -> dict[int, str]:
    """Return ids and names of the requested event types. Raises Trouble for an unknown one."""
    names = {each["id"]: each["name"] for each in service.call("GET", "/webhook-types")}
    chosen = {}
    for word in words:
        ids = [id for id, name in names.items() if word in (str(id), name)]
        if not ids:
            listed = ", ".join(f"{id} {name}" for id, name in names.items())
            raise Trouble(f"there is no event type {word}; there are {listed}")
        chosen[ids[0]] = names[ids[0]]
    return dict(sorted(chosen.items()))


def fill(service: Service, session: Session, types: dict[int, str]) -> None:
    """Create missing webhooks: all of a new session, or those deleted since from a kept one."""
    there = {each["id"] for each in webhooks_of(service)} if session.webhooks else set()
    for webhook in list(session.webhooks):
        if webhook["id"] not in there:
            session.delete(service, webhook)
    try:
        for type_id in types:
            if type_id not in session.types():
                session.add(service, type_id)
    except Refused as error:
        if error.code != "webhook_limit":
            raise
        without = [str(each["id"]) for each in webhooks_of(service) if each["url"] is None]
        raise Trouble(
            f"{error} DELETE /webhooks/ID deletes one; without a URL are {', '.join(without)}"
        ) from error


def webhooks_of(service: Service) -> list[Json]:
    webhooks: list[Json] = service.call("GET", "/webhooks?without_url=1")["data"]
    return webhooks


def work(options: argparse.Namespace, service: Service) -> None:
    clean_up(service, kept_too=options.clean_up)
    if options.clean_up:
        return
    types = wanted_types(service, options.type or ["3"])
    if options.print_secret:
        print_secrets(service, types)
        return
    session = kept_session(service, list(types)) or new_session(service)
    listener = None
    try:
        fill(service, session, types)
        session.note["keep"] = options.keep
        session.write()
        introduce(options, session, types)
        pairs = (header.split(":", 1) for header in options.header)
        headers = {name.strip(): value.strip() for name, value in pairs}
        listener = Listener(service, session, Receiver(options.forward, headers))
        listener.run()
    finally:
        leave(service, session)
        if listener:
            say(f"forwarded {listener.accepted}, not accepted {listener.failed}")


def print_secrets(service: Service, types: dict[int, str]) -> None:
    """Print the secrets of a running listen; create and keep webhooks for types it lacks.

    A second webhook next to a running one would have another secret than the events that arrive.
    """
    running = running_webhooks(service)
    secrets = {type_id: running[type_id].get("secret") for type_id in types if type_id in running}
    missing = {type_id: name for type_id, name in types.items() if type_id not in running}
    if missing:
        session = kept_session(service, list(missing)) or new_session(service)
        try:
            fill(service, session, missing)
            session.note["keep"] = True
            session.write()
            secrets.update({each["type"]: each["secret"] for each in session.webhooks})
        finally:
            leave(service, session)
    say("\n".join(secret for _, secret in sorted(secrets.items()) if secret))


def introduce(options: argparse.Namespace, session: Session, types: dict[int, str]) -> None:
    say(f"listening to {options.url}, forwarding to {options.forward}")
    for webhook in session.webhooks:
        secret = webhook["secret"]
        signed = f"signing secret {secret}" if secret else "unsigned"
        say(f"  {types[webhook['type']]}: webhook {webhook['id']}, {signed}")
    say("Ctrl-C stops")


def leave(service: Service, session: Session) -> None:
    """Delete the session's webhooks, or keep them. On failure the next start deletes them."""
    if session.note["keep"]:
        session.close()
        return
    try:
        session.end(service)
    except Away as error:
        session.close()
        warn(f"the webhooks are not deleted yet ({error}); the next start of listen does it")


def main(arguments: list[str] | None = None) -> int:
    try:
        options = options_of(arguments)
        service = Service(options.url.rstrip("/"), options.token)
        work(options, service)
    except Stop:
        return 0
    except Trouble as trouble:
        warn(str(trouble))
    except Away as error:
        warn(f"{options.url} does not answer: {error}. Does the service run there? See --url")
    except Refused as error:
        token = " Is the token whole, and of this service?" if error.status == 401 else ""
        warn(f"the service answered {error.status}: {error}{token}")
    else:
        return 0
    return 1


def stop(*_: object) -> NoReturn:
    """Shut down gracefully; a second signal ends the process at once."""
    for number in stop_signals():
        signal.signal(number, signal.SIG_DFL)
    raise Stop


def stop_signals() -> list[int]:
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


if __name__ == "__main__":
    for number in stop_signals():
        signal.signal(number, stop)
    sys.exit(main())
