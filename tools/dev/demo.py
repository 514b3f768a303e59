"""Waits until the service is ready, fills a new one with a demo, and says how to try it.

Everything goes through the doors that anyone has: management commands and the HTTP API.
"""

import json
import os
import secrets
import shlex
import sys
import time
import urllib.error
import urllib.request
from io import StringIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import django
from django.apps import apps
from django.core.management import CommandError, call_command

from tools.dev import demo_hints
from tools.dev.environment import read_private, write_private

# Webhook types that the receiver gets, and the path each is registered at.
TYPES = {"3": "/tracking", "5": "/surcharge", "1": "/legacy"}
COMPANY = "Demo Company"
SAY_AGAIN_SECONDS = 15
ANSWER_WITHIN_SECONDS = 10
# What is on this machine is not asked for through the proxy that the environment may name.
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """A door did not open; the message says which, and what it answered."""


def main(base: str, receiver: int, data: Path) -> None:
    if os.environ.get("ENVIRONMENT") == "production":
        wait_until_ready(base)
        print(f"Ready: {base}\nNo demo here: ENVIRONMENT is production.", flush=True)
        return
    demo = Demo(base, f"http://127.0.0.1:{receiver}" if receiver else "", data / "demo.json")
    try:
        # Commands need no web server: what it takes to start is used for them.
        demo.make_people()
        wait_until_ready(base)
        new = demo.fill()
    except (Refused, OSError) as error:
        wait_until_ready(base)
        print(f"dev: the demo is not complete; the next ./dev run goes on with it. {error}")
        print(f"Ready: {base}", flush=True)
        return
    hints = demo_hints.Hints(demo.known, base, demo.receiver, data)
    file = hints.keep()
    later = f"Ready: {base}\nThe demo's token, login and lines to try: cat {shlex.quote(file)}"
    print(hints.text() if new else later, flush=True)


def wait_until_ready(base: str) -> None:
    """Return when /readyz answers 200, saying now and then why it does not."""
    told = time.monotonic()
    while True:
        status, answer = ask("GET", f"{base}/readyz")
        if status == 200:
            return
        if time.monotonic() - told > SAY_AGAIN_SECONDS:
            print(f"dev: not ready yet: {what_is_missing(answer)}", flush=True)
            told = time.monotonic()
        time.sleep(0.3)


def what_is_missing(answer: Any) -> str:
    """The checks of /readyz that fail, with what they say; anything else as it came."""
    if not isinstance(answer, dict) or "checks" not in answer:
        return str(answer)
    failing = ((name, check) for name, check in answer["checks"].items() if not check["ok"])
    return "; ".join(f"{name}: {check['detail']}" for name, check in failing)


def ask(
    method: str, url: str, token: str = "", body: dict[str, Any] | None = None
) -> tuple[int, Any]:
    """One request; the status, 0 when nobody answers, and the answer, as JSON if it is that."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, headers, method=method)  # noqa: S310 - http
    try:
        with LOCAL.open(request, timeout=ANSWER_WITHIN_SECONDS) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text[:300]


class Demo:
    """What is known of the demo, written down after every step: it can be taken up anywhere."""

    def __init__(self, base: str, receiver: str, file: Path) -> None:
        self.base = base
        self.receiver = receiver
        self.file = file
        self.known: dict[str, Any] = read_private(file)

    def make_people(self) -> None:
        """The company, its token and an agent, by management commands alone."""
        if "company_id" not in self.known:
            made = manage("create_company", COMPANY)
            self.learn(company_id=json.loads(made)["company_id"])
        if "token" not in self.known:
            self.learn(token=manage("issue_token", str(self.known["company_id"])))
        if "agent" not in self.known:
            self.learn(agent=make_agent())

    def fill(self) -> bool:
        """The rest, over HTTP and through the feed; False when there was nothing left to do."""
        if self.is_of_another_database():
            self.known = {}
            self.make_people()
        if self.known.get("complete"):
            return False
        if not self.receiver:
            raise Refused("Its webhooks wait for the receiver's port.")
        self.register_webhooks()
        with NamedTemporaryFile("w", suffix=".jsonl") as feed:
            feed.write("\n".join(map(json.dumps, self.feed())))
            feed.flush()
            manage("ingest", feed.name)
        self.learn(complete=True)
        return True

    def learn(self, **facts: object) -> None:
        self.known |= facts
        write_private(self.file, self.known)

    def is_of_another_database(self) -> bool:
        """The token is unknown there: DATABASE_URL has changed, or someone has revoked it."""
        return ask("GET", f"{self.base}/webhooks", self.known["token"])[0] == 401

    def register_webhooks(self) -> None:
        """Register each type once. One whose secret got lost half way is replaced."""
        token, mine = self.known["token"], self.known.get("webhooks", {})
        ours = {str(webhook["id"]) for webhook in mine.values()}
        for webhook in self.ask("GET", "/webhooks")["data"]:
            if str(webhook["id"]) not in ours and webhook["url"].startswith(self.receiver):
                ask("DELETE", f"{self.base}/webhooks/{webhook['id']}", token)
        for type_id, path in TYPES.items():
            if type_id not in mine:
                body = {"type_id": int(type_id), "url": self.receiver + path, "active": 1}
                made = self.ask("POST", "/webhooks", body)["data"]
                mine |= {type_id: {"id": made["id"], "secret": made.get("secret", "")}}
                self.learn(webhooks=mine)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        status, answer = ask(method, self.base + path, self.known["token"], body)
        if status != 200:
            raise Refused(f"{method} {path} answered {status}: {answer}")
        return answer

    def feed(self) -> list[dict[str, Any]]:
        """Two parcels on their way, one of them late and charged extra."""
        first, second = demo_hints.shipments(self.known)
        company, number = self.known["company_id"], "DEMO{}".format
        parcel = {"kind": "shipment", "company_id": company, "carrier_name": "acme"}
        moved = {"kind": "tracking", "status": "Picked Up", "location": "Monterrey, MX"}
        return [
            parcel | {"shipment_id": first, "tracking_number": number(first)},
            parcel | {"shipment_id": second, "tracking_number": number(second)},
            moved | {"shipment_id": first, "status_description": "Collected from the sender"},
            moved | {"shipment_id": second, "status_description": "Collected from the sender"},
            {
                "kind": "surcharge", "surcharge_id": second, "shipment_id": second,
                "surcharge_type": "Overweight", "reason": "5.2 kg declared, 7.9 kg measured",
                "amount": 86.5, "currency": "MXN", "transaction_type": "surcharge",
            },
            {
                "kind": "incidence", "incidence_id": second, "shipment_id": second,
                "incidence_kind": "delay", "description": "Held back at the sorting centre",
            },
        ]  # fmt: skip


def make_agent() -> dict[str, str]:
    """An agent who may do everything at the desk; another name where the first is taken."""
    password = secrets.token_urlsafe(12)
    for username in ("agent", f"agent-{secrets.token_hex(2)}"):
        try:
            manage("create_agent", username, "--lead", AGENT_PASSWORD=password)
        except Refused as error:
            refusal = error
        else:
            return {"username": username, "password": password}
    raise refusal


def manage(*arguments: str, **variables: str) -> str:
    """What a management command prints; Refused with its own words when it fails.

    One process for all of them: most of a command's time goes into starting Django.
    """
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
    os.environ.update(variables)
    printed = StringIO()
    try:
        call_command(*arguments, stdout=printed, stderr=printed)
    except (CommandError, SystemExit) as error:
        raise Refused(
            f"manage {shlex.join(arguments)} failed: {error} {printed.getvalue()}"
        ) from error
    return printed.getvalue().strip()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
