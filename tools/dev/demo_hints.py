"""Hints for trying the demo: credentials, addresses, and lines to paste."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.dev.bootstrap import ROOT

TEXT = """
Demo company {company_id}
  API token        {token}
Agent
  login            {username}
  password         {password}
  desk             {base}/admin/
Webhooks received  {receiver}
API               {base}/docs

Ready: {base}

Open a ticket (a second time it is a duplicate, and the answer says so):

curl -s {base}/company/tickets \\
  -H 'Authorization: Bearer {token}' \\
  -H 'Content-Type: application/json' -d '{ticket}'

Bring webhooks to a program of your own, as docs/quickstart.md does:

PARCELDESK_URL={base} PARCELDESK_TOKEN={token} \\
  python3 {listen} --forward http://127.0.0.1:3000/hook

Send news of a parcel to its webhooks (again with another status, such as "Delivered"; the same
status twice is no news):

echo '{news}' | {manage} ingest -
"""
TICKET = '{{"type_id": 4, "shipment_id": {}, "comments": "The parcel never arrived."}}'
NEWS = '{{"kind":"tracking","shipment_id":{},"status":"Out for Delivery"}}'


def shipments(facts: dict[str, Any]) -> tuple[int, int]:
    """Return ids of the demo's two shipments, unique to its company."""
    return facts["company_id"] * 1000 + 101, facts["company_id"] * 1000 + 102


@dataclass(frozen=True)
class Hints:
    """Facts about the demo, and its current addresses."""

    facts: dict[str, Any]
    base: str
    receiver: str
    data: Path

    def text(self) -> str:
        first, _ = shipments(self.facts)
        return TEXT.format(
            company_id=self.facts["company_id"],
            token=self.facts["token"],
            **self.facts["agent"],
            base=self.base,
            receiver=self.receiver or "nowhere: another program has the receiver's port",
            ticket=TICKET.format(first),
            news=NEWS.format(first),
            manage=self.command(),
            listen=self.path("clients/listen.py"),
        )

    def command(self) -> str:
        """Return the `./dev manage` command for the current folder and this data folder."""
        dev = self.path("./dev")
        if self.data == ROOT / ".dev":
            return f"{dev} manage"
        return f"DATA_DIR={shlex.quote(str(self.data))} {dev} manage"

    def path(self, of: str) -> str:
        """Return the path of a file of the checkout as typed in the current folder."""
        here = os.environ.get("PWD") == str(ROOT)
        return of if here else shlex.quote(str(ROOT / of))

    def keep(self) -> str:
        """Write the text into the data folder, readable for us alone; return the path."""
        file = self.data / "demo.txt"
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w") as note:
            note.write(self.text())
        return str(file)
