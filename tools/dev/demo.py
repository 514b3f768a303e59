"""Demo: wait until the service is ready, fill an empty one, and print how to try it.

Everything uses public interfaces: management commands and the HTTP API.
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

# Event types that the receiver gets, and the path of each webhook.
TYPES = {"3": "/tracking", "5": "/surcharge", "1": "/legacy"}
COMPANY = "Demo Company"
SAY_AGAIN_SECONDS = 15
ANSWER_WITHIN_SECONDS = 10
# Do not use the environment's proxy for requests to this machine.
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """A command or request failed; the message says which, with its output."""


def main(base: str, receiver: int, data: Path) -> None:
    if os.environ.get("ENVIRONMENT") == "production":
        wait_until_ready(base)
        print(f"Ready: {base}\nNo demo here: ENVIRONMENT is production.", flush=True)
        return
    demo = Demo(base, f"http://127.0.0.1:{receiver}" if receiver else "", data / "demo.json")
    try:
        # Commands need no web server, so run them while it starts.
        demo.make_people()
        wait_until_ready(base)
        new = demo.fill()
    except (Refused, OSError) as error:
        wait_until_ready(base)
        print(f"dev: the demo is not complete; the next ./dev run goes on with it. {error}")
        print(f"Ready: {base}", flush=True)
        return
    hints = demo_hints.Hints(demo.facts, base, demo.receiver, data)
    file = hints.keep()
    later = f"Ready: {base}\nThe demo's token, login and lines to try: cat {shlex.quote(file)}"
    print(hints.text() if new else later, flush=True)


def wait_until_ready(base: str) -> None:
    """Wait until /readyz answers 200, and report from time to time why it does not."""
    last_report = time.monotonic()
    while True:
        status, answer = ask("GET", f"{base}/readyz")
        if status == 200:
            return
        if time.monotonic() - last_report > SAY_AGAIN_SECONDS:
            print(f"dev: not ready yet: {what_is_missing(answer)}", flush=True)
            last_report = time.monotonic()
        time.sleep(0.3)


def what_is_missing(answer: Any) -> str:
    """Describe the failing checks of an answer of /readyz; return other answers as text."""
    if not isinstance(answer, dict) or "checks" not in answer:
        return str(answer)
    failing = ((name, check) for name, check in answer["checks"].items() if not check["ok"])
    return "; ".join(f"{name}: {check['detail']}" for name, check in failing)


def ask(
    method: str, url: str, token: str = "", body: dict[str, Any] | None = None
) -> tuple[int, Any]:
    """Send a request; return status, 0 without an answer, and body, as JSON if possible."""
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
    """State of the demo, saved after every step, so that it can be resumed."""

    def __init__(self, base: str, receiver: str, file: Path) -> None:
        self.base = base
        self.receiver = receiver
        self.file = file
        self.facts: dict[str, Any] = read_private(file)

    def make_people(self) -> None:
        """Create the company, its token and an agent by management commands."""
        if "company_id" not in self.facts:
            output = manage("create_company", COMPANY)
            self.learn(company_id=json.loads(output)["company_id"])
        if "token" not in self.facts:
            self.learn(token=manage("issue_token", str(self.facts["company_id"])))
        if "agent" not in self.facts:
            self.learn(agent=make_agent())

    def fill(self) -> bool:
        """Create the rest over HTTP and the feed; return False if the demo is complete."""
        if self.is_of_another_database():
            self.facts = {}
            self.make_people()
        if self.facts.get("complete"):
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
        self.facts |= facts
        write_private(self.file, self.facts)

    def is_of_another_database(self) -> bool:
        """Return True if the token is unknown: another DATABASE_URL, or it was revoked."""
        return ask("GET", f"{self.base}/webhooks", self.facts["token"])[0] == 401

    def register_webhooks(self) -> None:
        """Register each type once; replace webhooks whose secret was never saved."""
        token, mine = self.facts["token"], self.facts.get("webhooks", {})
        ours = {str(webhook["id"]) for webhook in mine.values()}
        for webhook in self.ask("GET", "/webhooks")["data"]:
            if str(webhook["id"]) not in ours and webhook["url"].startswith(self.receiver):
                ask("DELETE", f"{self.base}/webhooks/{webhook['id']}", token)
        for type_id, path in TYPES.items():
            if type_id not in mine:
                body = {"type_id": int(type_id), "url": self.receiver + path, "active": 1}
                webhook = self.ask("POST", "/webhooks", body)["data"]
                mine |= {type_id: {"id": webhook["id"], "secret": webhook.get("secret", "")}}
                self.learn(webhooks=mine)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        status, answer = ask(method, self.base + path, self.facts["token"], body)
        if status != 200:
            raise Refused(f"{method} {path} answered {status}: {answer}")
        return answer

    def feed(self) -> list[dict[str, Any]]:
        """Return the feed of two parcels, one of them late and with a surcharge."""
        first, second = demo_hints.shipments(self.facts)
        company, number = self.facts["company_id"], "DEMO{}".format
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
    """Create a lead agent, under another name if the first is taken."""
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
    """Run a management command and return its output. Raises Refused with its message.

    All commands share this process, as most of a command's time goes into starting Django.
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
