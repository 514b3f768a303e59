"""A database of the last unsquashed commit comes through today's migrate whole.

The commit's own code makes a database with rows in it; today's code migrates it, reads it and works
with it. Meanwhile today's migrate makes another from nothing: both must have the same schema.

A migration that writes stored rows anew names their columns in REWRITTEN, and is looked at by a
test of its own here: `outcome` has the rows from before and after, what the API answered before
and after, and the desk's pages.
"""

import hmac
import io
import json
import os
import subprocess
import sys
import tarfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from pytest_django import DjangoDbBlocker

from config.upgrades import last_unsquashed_commit
from devtools.locks import exclusively
from faults.environment import environment
from faults.receiver import Answer, Received, Receiver
from tests.upgrades.databases import Database, lost, new_database

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
APPS = ("companies_", "webhooks_", "deliveries_", "shipments_", "tickets_", "desk_")
# By table: columns of which an upgrade changes what is stored.
REWRITTEN: dict[str, set[str]] = {
    "tickets_historyentry": {"reason", "changes"},
    # Target is SLATarget.
    "django_content_type": {"model"},
    "auth_permission": {"codename", "name"},
}
# Filled by migrations; an upgraded database must have what a new one has.
SHIPPED = ("tickets_tickettype", "tickets_calendar", "tickets_workinghours", "tickets_target")
Outcome = dict[str, Any]
# Runs a file as a program of the tree that is the working directory.
SCRIPT = """
import runpy, sys
import django
django.setup()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def outcome(
    tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker
) -> Outcome:
    """What came of an upgrade, made once for all processes of a parallel run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    kept = shared / "upgrade.json"
    tree = tmp_path_factory.mktemp("old")
    with exclusively(shared / "upgrade.lock", waiting="another process upgrades a database"):
        if not kept.exists():
            unpack(last_unsquashed_commit(), tree)
            with django_db_blocker.unblock():
                kept.write_text(json.dumps(upgrade(tree)))
    return json.loads(kept.read_text())


def unpack(commit: str, folder: Path) -> None:
    """Put the files of a commit there. Skips the test where git does not have it."""
    try:
        packed = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        ).stdout
    except FileNotFoundError:
        pytest.skip("no git: the upgrade from before the squash is not tried")
    except subprocess.CalledProcessError:
        pytest.skip(f"no commit {commit[:7]} (a shallow clone?): the upgrade from it is not tried")
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")


def upgrade(tree: Path) -> Outcome:
    with ExitStack() as stack:
        receiver = stack.enter_context(Receiver())
        old, new = (
            stack.enter_context(new_database(f"parceldesk_upgrade_{os.getpid()}_{name}"))
            for name in ("old", "new")
        )
        receiver.answer = lambda received: Answer(500 if received.path == "/failing" else 200)
        told, found = tree.with_name("told.json"), tree.with_name("found.json")
        alone = start(new, ROOT, "manage.py", "migrate", "--verbosity", "0")
        finish(start(old, tree, "-c", SCRIPT, HERE / "old_code.py", told, receiver.url))
        finish(alone)
        before = old.rows()
        receiver.answer = lambda received: Answer()
        tried = len(receiver.log)
        finish(start(old, ROOT, "-c", SCRIPT, HERE / "new_code.py", told, found))
        return {
            "told": json.loads(told.read_text()),
            "found": json.loads(found.read_text()),
            "before": before,
            "schemas": [old.schema(), new.schema()],
            "permissions": [old.permissions(), new.permissions()],
            "shipped": {table: new.rows()[table] for table in SHIPPED},
            "sent": [sent(received) for received in receiver.log[:tried]],
            "sent after": [sent(received) for received in receiver.log[tried:]],
        }


def start(database: Database, tree: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """Start Python in a tree, in the environment of the service."""
    values = environment(
        database=database.url,
        broker=settings.CELERY_BROKER_URL,
        cache=settings.CACHE_URL,
        folder=tree,
    )
    values |= {
        "SECRET_KEY": settings.SECRET_KEY,
        "FIELD_KEYS": ",".join(settings.FIELD_KEYS),
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
        "AGENT_PASSWORD": "correct horse battery",
        "DELIVERY_CA_BUNDLE": "",
    }
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=tree,
        env=values,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> None:
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said


def sent(received: Received) -> dict[str, Any]:
    return {
        "path": received.path,
        "headers": dict(received.headers),
        "body": received.body.decode(),
    }


def test_both_ways_give_the_same_schema(outcome: Outcome) -> None:
    upgraded, new = outcome["schemas"]

    assert len(new) > 1000
    assert upgraded == new


def test_both_ways_ship_the_same_rows(outcome: Outcome) -> None:
    upgraded, new = outcome["permissions"]
    rows = outcome["found"]["rows"]

    assert upgraded == new
    assert {
        table: lost(rows[table], outcome["shipped"][table], but=set())
        + lost(outcome["shipped"][table], rows[table], but=set())
        for table in SHIPPED
    } == ({table: [] for table in SHIPPED})


def test_nothing_is_left_to_migrate(outcome: Outcome) -> None:
    found = outcome["found"]

    assert (found["planned"], found["unrecorded"], found["lacks_migrations"]) == ([], [], False)


def test_every_row_is_still_there(outcome: Outcome) -> None:
    before, after = outcome["before"], outcome["found"]["rows"]

    assert [table for table, rows in before.items() if table.startswith(APPS) and not rows] == []
    assert {
        table: gone
        for table, rows in before.items()
        if table != "django_migrations"
        and (gone := lost(rows, after[table], but=REWRITTEN.get(table, set())))
    } == {}


def test_who_could_change_targets_still_can(outcome: Outcome) -> None:
    before, after = (
        {row["id"]: row["codename"] for row in rows["auth_permission"]}
        for rows in (outcome["before"], outcome["found"]["rows"])
    )
    renamed = {(before[id], after[id]) for id in before if before[id] != after[id]}

    assert renamed == {
        (f"{verb}_target", f"{verb}_slatarget") for verb in ("add", "change", "delete", "view")
    }
    assert outcome["before"]["auth_group_permissions"] != []


def test_history_is_in_codes(outcome: Outcome) -> None:
    after = {row["id"]: row for row in outcome["found"]["rows"]["tickets_historyentry"]}
    pairs = [(old, after[old["id"]]) for old in outcome["before"]["tickets_historyentry"]]
    moves = [(old, new) for old, new in pairs if old["public"]]
    others = [(old, new) for old, new in pairs if not old["public"]]

    assert {(new["kind"], new["reason"] == old["reason"]) for old, new in moves} == {
        ("opened", True),
        ("moved", True),
    }
    assert {old["reason"]: (new["kind"], new["reason"]) for old, new in others} == {
        "assigned to ada: the least loaded": ("assigned", ""),
        "given to bo by hand: Knows: credits.": ("reassigned", "Knows: credits."),
        "given to whom the rule finds by hand": ("reassigned", ""),
        "left unassigned: nobody who takes this type is available": ("unassigned", ""),
        "taken by ada: chosen by hand": ("taken", ""),
        "given to bo by hand, beyond their capacity (1 of 1)": ("reassigned", ""),
        "asked for documents": ("documents_requested", ""),
        "": ("evidence_taken", ""),
        "Follow up was asked for and cannot follow Pending: the status stays.": (
            "move_refused",
            "",
        ),
        "The status stays.": ("data_changed", ""),
    }


# What the row of a ticket had not got; an appeal stands only where one ticket is asked for.
NEW_OF_TICKETS = {
    "files": [],
    "file_quantity": 0,
    "requested_documents": [],
    "reason_code": None,
    "amounts": None,
    "appeal": None,
}


def test_the_api_answers_as_before(outcome: Outcome) -> None:
    told, found = outcome["told"], outcome["found"]

    assert told["statuses"] == [5, 2, 1, 1]
    # What is new since then.
    assert found["answers"]["/webhooks"].pop("next_cursor") is None
    for webhook in found["answers"]["/webhooks"]["data"]:
        assert webhook.pop("max_in_flight") is None
        assert webhook.pop("standard_headers") == 0
    for row in found["answers"]["/tickets/types"]["data"]:
        assert row["rules"].pop("files") == []
        assert row["rules"].pop("mcp_context")["use_case"] == row["description"]
    assert found["answers"]["/webhook-types"].pop()["name"] == "ticket.updated"
    for answer in found["answers"].values():
        if "ticket_status_id" in str(answer):
            for row in answer["data"]:
                new = {key: row.pop(key, None) for key in NEW_OF_TICKETS}
                assert new == NEW_OF_TICKETS
            assert answer.pop("total_rows_exact", True)
    for path, answer in found["answers"].items():
        if path.startswith("/company/tickets/comments/"):
            assert answer.pop("next_cursor") is None
        if path.endswith("?getComments=true"):
            for row in answer["data"]:
                assert row.pop("comments_total") == len(row["allComments"])
        if path.startswith("/company/tickets/") and isinstance(answer.get("data"), list):
            for row in answer["data"]:
                row.pop("claim_deadline", None)
        if "/deliveries" in path:
            rows = answer["data"] if isinstance(answer["data"], list) else [answer["data"]]
            for name in ("ticket_id", "request_id"):
                assert [row.pop(name) for row in rows] == [None] * len(rows)
    assert found["answers"] == told["answers"]


def test_the_desk_shows_the_tickets(outcome: Outcome) -> None:
    pages = outcome["found"]["pages"]
    lost, crushed, credit, carrier = (page for _, page in pages)

    assert [status for status, _ in pages] == [200] * 4
    for words in ("It is lost.", "Please send the invoice.", "The invoice is number 7."):
        assert words in lost
    assert "Quick." in crushed
    assert "XAXX010101000" in credit
    assert "Please switch on acme." in carrier
    for words in (
        "ada reassigned it from ada to bo",
        "Reason: <bdi>Knows: credits.</bdi>",
        "Photo",
    ):
        assert words in credit
    for words in (
        "Reassigned automatically by ada (was assigned to ada).",
        "Left unassigned: no agent for this ticket type is available.",
        "ada chose the ticket and took it.",
        "ada reassigned it from ada to bo, over capacity (1 of 1).",
        "The company asked for Follow up, which cannot follow Pending.",
        "Changed b: 1 → 2",
    ):
        assert words in carrier


def test_work_goes_on(outcome: Outcome) -> None:
    told, work = outcome["told"], outcome["found"]["work"]
    ticket = work["the ticket"]

    assert work["the same request"] == {"id": told["tickets"][0]}
    assert work["a second ticket"] == 409
    assert work["a comment on a decided ticket"] == 422
    assert [(row["from"], row["to"]) for row in ticket["history"]] == [
        (None, 1),
        (1, 6),
        (6, 4),
        (4, 5),
        (5, 6),
        (6, 3),
    ]
    same = {"read": 8, "changed": 0, "events": 0, "bad": 0, "known": 8}
    assert work["the same lines"] == same
    new = {"read": 1, "changed": 1, "events": 1, "bad": 0, "known": 0}
    assert work["a new line"] == new
    assert work["a change of history"] == "the history of a ticket is append-only"


def test_deliveries_go_on_with_the_secrets_from_before(outcome: Outcome) -> None:
    well, failing, paused = outcome["told"]["webhooks"]
    before = [each["path"] for each in outcome["sent"]]
    after = outcome["sent after"]

    assert sorted(before) == ["/failing", *["/well"] * 4]
    # What failed before, what waited for the pause to end, and what the new line tells.
    assert sorted(each["path"] for each in after) == ["/failing", *["/paused"] * 5, "/well"]
    for webhook, path in ((well, "/well"), (failing, "/failing"), (paused, "/paused")):
        for each in after:
            if each["path"] == path:
                assert is_signed(each, webhook["secret"])
    (news,) = (each for each in after if each["path"] == "/well")
    assert news["headers"]["Authorization"] == "Bearer tok-1"


def is_signed(sent: dict[str, Any], secret: str) -> bool:
    headers = sent["headers"]
    signed = f"{headers['X-Webhook-Timestamp']}.{headers['X-Webhook-Event']}.{sent['body']}"
    digest = hmac.new(secret.encode(), signed.encode(), "sha256").hexdigest()
    return headers["X-Webhook-Signature"] == f"v1={digest}"


def test_a_row_that_is_lost_or_changed_is_found() -> None:
    rows = [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]

    assert lost(rows, [{**row, "new": 0} for row in reversed(rows)], but=set()) == []
    assert len(lost(rows, rows[:1], but=set())) == 1
    assert len(lost(rows, [{**row, "text": "a"} for row in rows], but=set())) == 1
    assert lost(rows, [{**row, "text": "a"} for row in rows], but={"text"}) == []
    assert len(lost(rows, [{"id": 1}, {"id": 2}], but=set())) == 2


def test_skips_with_a_word_where_the_commit_is_missing(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="no commit 0000000"):
        unpack("0" * 40, tmp_path)


def test_skips_with_a_word_where_git_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(pytest.skip.Exception, match="no git"):
        unpack(last_unsquashed_commit(), tmp_path)
