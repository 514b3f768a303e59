"""Today's code on a database of the last unsquashed version: migrates, reads and works with it.

Runs in a process of its own. Arguments: the file that old_code.py wrote, and the file to write to.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from rest_framework.test import APIClient

from deliveries.models import Delivery
from tests import sending
from tests.shipments.feeding import ingest, tracking, write
from tests.upgrades.databases import Database
from webhooks import target_policy


def upgrade() -> dict[str, Any]:
    """Migrate, and say what is left to migrate."""
    call_command("migrate", verbosity=0, skip_checks=False)
    executor = MigrationExecutor(connection)
    applied = executor.recorder.applied_migrations()
    try:
        call_command("makemigrations", check=True, dry_run=True, verbosity=0)
        lacking = False
    except SystemExit:
        lacking = True
    return {
        "planned": [
            str(migration)
            for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())
        ],
        "unrecorded": sorted(set(executor.loader.disk_migrations) - set(applied)),
        "lacks_migrations": lacking,
        "rows": Database(connection.settings_dict["NAME"]).rows(),
    }


def read(api: APIClient, desk: Client, told: dict[str, Any]) -> dict[str, Any]:
    """What the company is answered now, and what an agent is shown."""
    pages = [desk.get(f"/admin/tickets/ticket/{id}/change/") for id in told["tickets"]]
    return {
        "answers": {path: api.get(path).json() for path in told["answers"]},
        "pages": [[page.status_code, page.content.decode()] for page in pages],
    }


def work(api: APIClient, told: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a company and an agent do next, and what came of it."""
    lost, crushed, *_ = told["tickets"]
    again = {"type_id": 4, "shipment_id": 4101, "comments": "It is lost."}
    key = {"Idempotency-Key": "key-0"}
    done: dict[str, Any] = {
        "the same request": api.post("/company/tickets", again, headers=key).json(),
        "a second ticket": api.post("/company/tickets", again).status_code,
        "a comment on a decided ticket": api.post(
            f"/company/tickets/{crushed}/comments", {"comment": "Thank you, but why?"}
        ).status_code,
    }
    call_command("move_ticket", lost, 6, agent="ada", stdout=sys.stderr)
    call_command("move_ticket", lost, 3, agent="ada", reason="Found.", stdout=sys.stderr)
    done["the ticket"] = api.get(f"/company/tickets/{lost}").json()["data"][0]
    done["the same lines"] = ingest(write(folder / "same.jsonl", *told["lines"])).counts
    news = tracking(4101, "Delivered")
    done["a new line"] = ingest(write(folder / "new.jsonl", news)).counts
    call_command("redeliver", webhook=told["webhooks"][1]["id"], state="waiting", stdout=sys.stderr)
    api.put(f"/webhooks/{told['webhooks'][2]['id']}", {"active": 1})
    deliver()
    done["a change of history"] = try_to_rewrite_history()
    return done


def deliver() -> None:
    """Run the engine until nothing waits: what follows in order comes a little later."""
    deadline = time.monotonic() + 60
    while Delivery.objects.open().exists() and time.monotonic() < deadline:
        sending.deliver(target_policy.current_policy())


def try_to_rewrite_history() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE tickets_historyentry SET created_at = now()")
    except Error as error:
        return str(error).partition("\n")[0]
    return "done"


def main(told_file: Path, file: Path) -> None:
    told = json.loads(told_file.read_text())
    found = upgrade()
    api = APIClient(SERVER_NAME="127.0.0.1", HTTP_AUTHORIZATION=f"Bearer {told['token']}")
    api.default_format = "json"
    desk = Client(SERVER_NAME="127.0.0.1")
    desk.force_login(User.objects.get(username="ada"))
    found |= read(api, desk, told)
    found["work"] = work(api, told, file.parent)
    file.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
