"""History that holds English sentences is translated into codes and facts.

TRANSLATE has every sentence that the versions before wrote. An entry with any other words keeps
them in `reason` and keeps the kind "other": nothing is lost, and the desk shows it as it stands.
What a person wrote stays as it is; before a lead's reason only the code's own words are cut off.

It works in batches by id, each in a transaction of its own, and can be interrupted and started
again. The trigger that refuses to change history is off within such a transaction only. Nobody
else sees it off: the transaction keeps other writers of the table waiting, for one batch, which
takes a fraction of a second.

Processes of the version before may go on writing sentences while this one is being rolled out.
Those entries have the kind "other", the default of the column, and are shown as they stand.

It can be reversed: RESTORE makes each sentence again from the code and the facts.
"""

import time
from collections.abc import Iterable

from django.apps.registry import Apps
from django.db import OperationalError, migrations, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from psycopg.errors import LockNotAvailable

# A batch keeps other writers of history waiting: some tens of milliseconds.
BATCH = 250
PAUSE_SECONDS = 0.1

UPDATE = "UPDATE tickets_historyentry SET {} WHERE id > %s AND id <= %s AND {}"
NEXT = """
SELECT max(id) FROM (
  SELECT id FROM tickets_historyentry WHERE id > %s ORDER BY id LIMIT %s
) AS batch
"""

# The parts of which the sentences were made.
AGENT = "(changes #>> '{agent,1}')"
LOAD = f"(changes #>> ARRAY['loads', {AGENT}, '0'])"
CAPACITY = f"(changes #>> ARRAY['loads', {AGENT}, '1'])"
ASSIGNED = f"'assigned to ' || {AGENT} || ': the least loaded'"
TAKEN_URGENT = f"'taken by ' || {AGENT} || ': the most urgent that nobody had'"
TAKEN_CHOSEN = f"'taken by ' || {AGENT} || ': chosen by hand'"
GIVEN = f"""(
  'given to ' || coalesce({AGENT}, 'whom the rule finds') || ' by hand'
  || CASE WHEN {LOAD}::int >= {CAPACITY}::int
     THEN ', beyond their capacity (' || {LOAD} || ' of ' || {CAPACITY} || ')' ELSE '' END
)"""
NOBODY = "'left unassigned: nobody who takes this type is available'"
FULL = "'left unassigned: everybody who takes this type has enough'"
LOCKED = "'left unassigned: the agents were busy being assigned'"
HELD_BACK = "'Held back from Follow up: what came with it says nothing new.'"
CANNOT_FOLLOW = """(
  'Follow up was asked for and cannot follow '
  || CASE now WHEN 1 THEN 'Pending' WHEN 2 THEN 'Accepted' WHEN 3 THEN 'Declined'
     WHEN 4 THEN 'Incomplete' WHEN 5 THEN 'Follow up' WHEN 6 THEN 'In review'
     WHEN 10 THEN 'Claim in review' END
  || ': the status stays.'
)"""

# What is set, and where, among the entries of the kind "other". None fits two.
TRANSLATE = [
    ("kind = 'opened'", "public AND was IS NULL"),
    ("kind = 'moved'", "public AND was IS NOT NULL"),
    (
        """kind = 'assigned', reason = '', changes = changes || '{"rule": "least_busy"}'""",
        f"NOT public AND by = 'system' AND reason = {ASSIGNED}",
    ),
    (
        """kind = 'unassigned', reason = '', changes = changes || '{"why": "nobody_available"}'""",
        f"NOT public AND by = 'system' AND reason = {NOBODY}",
    ),
    (
        """kind = 'unassigned', reason = '', changes = changes || '{"why": "all_at_capacity"}'""",
        f"NOT public AND by = 'system' AND reason = {FULL}",
    ),
    (
        """kind = 'unassigned', reason = '', changes = changes || '{"why": "lock_timeout"}'""",
        f"NOT public AND by = 'system' AND reason = {LOCKED}",
    ),
    (
        """kind = 'taken', reason = '', changes = changes || '{"rule": "most_urgent"}'""",
        f"NOT public AND by IN ('agent', 'lead') AND reason = {TAKEN_URGENT}",
    ),
    (
        """kind = 'taken', reason = '', changes = changes || '{"rule": "agent_choice"}'""",
        f"NOT public AND by IN ('agent', 'lead') AND reason = {TAKEN_CHOSEN}",
    ),
    # Behind the code's words and ": " stands what the lead wrote, if anything.
    (
        f"""kind = 'reassigned', reason = substr(reason, length({GIVEN}) + 3),
          changes = changes || jsonb_build_object(
            'rule', CASE WHEN {AGENT} IS NULL THEN 'least_busy' ELSE 'lead_choice' END)""",
        f"""NOT public AND by = 'lead' AND changes ? 'agent'
          AND (reason = {GIVEN} OR starts_with(reason, {GIVEN} || ': '))""",
    ),
    (
        "kind = 'documents_requested', reason = ''",
        "NOT public AND changes ? 'requested' AND reason = 'asked for documents'",
    ),
    (
        "kind = 'evidence_taken', changes = changes -> 'evidence'",
        "NOT public AND reason = '' AND changes -> 'evidence' ? 'sha256'",
    ),
    (
        "kind = 'data_changed', reason = ''",
        "NOT public AND changes ? 'variables' AND reason = 'The status stays.'",
    ),
    (
        """kind = 'move_refused', reason = '',
          changes = changes || '{"to": 5, "why": "nothing_new"}'""",
        f"NOT public AND reason = {HELD_BACK}",
    ),
    (
        """kind = 'move_refused', reason = '',
          changes = changes || '{"to": 5, "why": "not_allowed"}'""",
        f"NOT public AND reason = {CANNOT_FOLLOW}",
    ),
]
RESTORE = [
    ("kind = 'other'", "kind IN ('opened', 'moved')"),
    (f"kind = 'other', reason = {ASSIGNED}, changes = changes - 'rule'", "kind = 'assigned'"),
    (
        f"""kind = 'other', changes = changes - 'why', reason = CASE changes ->> 'why'
          WHEN 'nobody_available' THEN {NOBODY} WHEN 'all_at_capacity' THEN {FULL}
          ELSE {LOCKED} END""",
        "kind = 'unassigned'",
    ),
    (
        f"""kind = 'other', changes = changes - 'rule', reason = CASE changes ->> 'rule'
          WHEN 'most_urgent' THEN {TAKEN_URGENT} ELSE {TAKEN_CHOSEN} END""",
        "kind = 'taken'",
    ),
    (
        f"""kind = 'other', changes = changes - 'rule',
          reason = {GIVEN} || CASE WHEN reason = '' THEN '' ELSE ': ' || reason END""",
        "kind = 'reassigned'",
    ),
    ("kind = 'other', reason = 'asked for documents'", "kind = 'documents_requested'"),
    (
        "kind = 'other', changes = jsonb_build_object('evidence', changes)",
        "kind = 'evidence_taken'",
    ),
    ("kind = 'other', reason = 'The status stays.'", "kind = 'data_changed'"),
    (
        f"""kind = 'other', changes = changes - 'to' - 'why', reason = CASE changes ->> 'why'
          WHEN 'nothing_new' THEN {HELD_BACK} ELSE {CANNOT_FOLLOW} END""",
        "kind = 'move_refused'",
    ),
]


def renamed(old: str, new: str) -> tuple[str, str]:
    """A key of the facts under another name."""
    return (
        f"changes = (changes - '{old}') || jsonb_build_object('{new}', changes -> '{old}')",
        f"changes ? '{old}'",
    )


def translate(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    steps = [renamed("data", "variables"), *TRANSLATE]
    rewrite(schema_editor, [(change, f"kind = 'other' AND {where}") for change, where in steps])


def restore(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    rewrite(schema_editor, [*RESTORE, renamed("variables", "data")])


def rewrite(schema_editor: BaseDatabaseSchemaEditor, steps: Iterable[tuple[str, str]]) -> None:
    """Carry the steps out on all entries, batch by batch."""
    statements = [UPDATE.format(*step) for step in steps]
    connection = schema_editor.connection
    after = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(NEXT, [after, BATCH])
            (upto,) = cursor.fetchone()
        if upto is None:
            return
        try:
            rewrite_batch(connection, statements, (after, upto))
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            after = upto


def rewrite_batch(
    connection: BaseDatabaseWrapper, statements: Iterable[str], between: tuple[int, int]
) -> None:
    """Raises OperationalError for LockNotAvailable where `migrate` does not wait for the table."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        # An entry may be written twice here; PostgreSQL would then leave checks for the end of
        # the transaction, and alters no table that has some left.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE tickets_historyentry DISABLE TRIGGER append_only")
        for statement in statements:
            cursor.execute(statement, between)
        cursor.execute("ALTER TABLE tickets_historyentry ENABLE TRIGGER append_only")


class Migration(migrations.Migration):
    # Each batch commits by itself.
    atomic = False

    dependencies = [("tickets", "0002_history_kinds")]

    operations = [migrations.RunPython(translate, restore)]
