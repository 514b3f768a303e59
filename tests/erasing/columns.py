"""Columns of the database that can hold personal text, and the reasons for what stays in them."""

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection

TEXT_COLUMNS = """
SELECT relname, attname FROM pg_attribute AS col
JOIN pg_class ON pg_class.oid = attrelid AND relkind IN ('r', 'p') AND NOT relispartition
JOIN pg_type ON pg_type.oid = atttypid
WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
  AND typname IN ('text', 'varchar', 'bpchar', 'json', 'jsonb', 'bytea', 'tsvector', '_text',
    '_varchar', 'citext', 'xml', 'hstore')
ORDER BY 1, 2
"""

# Content that a company does not write, nor anybody about it. A table, or a column of one.
OURS = "set by operators or leads, for all companies"
PEOPLE = "about the people at the desk"
ENGINE = "the service's own state: hosts, names of tasks, ids"
CODE = "a code or a word of the service or the platform, from a short list"
STAFF = "a login of ours, or the prefix of a token: who did what stays"
KEPT_REASONS = {
    "auth_group": PEOPLE,
    "auth_permission": ENGINE,
    "auth_user": PEOPLE,
    "axes_accessattempt": PEOPLE,
    "axes_accessattemptexpiration": PEOPLE,
    "axes_accessfailurelog": PEOPLE,
    "axes_accesslog": PEOPLE,
    "desk_invitation": PEOPLE,
    "desk_preferences": PEOPLE,
    "desk_resetrequest": PEOPLE,
    "desk_seensession": PEOPLE,
    "desk_signon": PEOPLE,
    "otp_static_staticdevice": PEOPLE,
    "otp_static_statictoken": PEOPLE,
    "otp_totp_totpdevice": PEOPLE,
    "tickets_phonekey": PEOPLE,
    "tickets_absence": PEOPLE,
    "tickets_agent": PEOPLE,
    "django_session": "of people at the desk; nothing of companies is kept there",
    "django_content_type": ENGINE,
    "django_migrations": ENGINE,
    "companies_auditentry": "holds no text of companies, by its rule",
    "core_deployment": ENGINE,
    "companies_erasure": "ids and counts",
    "companies_keptbundle": "an answer to the platform, forgotten after a day",
    "companies_platformtoken": "of the shipping platform",
    "core_sum": ENGINE,
    "core_failedrow.kind": CODE,
    "core_failedrow.key": "an id",
    "core_failedrow.job": ENGINE,
    "companies_keptanswer.meaning": "a digest, which goes with its row",
    "companies_apitoken.prefix": "of a token that is revoked",
    "companies_apitoken.digest": "of a token that is revoked",
    "companies_company.language": CODE,
    "companies_company.time_zone": CODE,
    "deliveries_attempt.error": CODE,
    "deliveries_delivery.last_error": CODE,
    "deliveries_drain": ENGINE,
    "deliveries_heldhost": OURS,
    "deliveries_heartbeat": ENGINE,
    "deliveries_loop": ENGINE,
    "core_mail.secret_text": "encrypted; the row goes with the company's address",
    "core_deployment.key": ENGINE,
    "core_hostreport": ENGINE,
    "core_pulse": ENGINE,
    "deliveries_replay": OURS,
    "deliveries_samplesend": ENGINE,
    "desk_macro": OURS,
    "desk_settledstep": OURS,
    "desk_storm": "of a carrier, not of a company",
    "desk_stormreply": "one text of an agent to the companies of a storm",
    "django_admin_log.object_id": "an id",
    "portal_portalsession.key_digest": "of a secret; the row goes",
    "portal_portalsession.language": CODE,
    "portal_portalsession.url_digest": "of a secret; the row goes",
    "portal_ticketlink.digest": "of a secret; the row goes",
    "shipments_incidence.kind": CODE,
    "shipments_shipment.carrier_name": "a carrier",
    "shipments_shipment.status": CODE,
    "shipments_surcharge.currency": CODE,
    "shipments_surcharge.surcharge_type": CODE,
    "shipments_surcharge.transaction_type": CODE,
    "shipments_trackingupdate.status": CODE,
    "tickets_appeal.state": CODE,
    "tickets_approvallimit": OURS,
    "tickets_automation": OURS,
    "tickets_calendar": OURS,
    "tickets_comment.actor": STAFF,
    "tickets_comment.by": CODE,
    "tickets_document.type": CODE,
    "tickets_filingrule": OURS,
    "tickets_historyentry.actor": STAFF,
    "tickets_historyentry.by": CODE,
    "tickets_historyentry.kind": CODE,
    "tickets_holiday": OURS,
    "tickets_notification.by": CODE,
    "tickets_notification.kind": CODE,
    "tickets_pendinganswer.code": CODE,
    "tickets_pendinganswer.kind": CODE,
    "tickets_pendinganswer.seen": "ids",
    "tickets_reasoncode": OURS,
    "tickets_requireddocument": OURS,
    "tickets_target": OURS,
    "tickets_ticket.carrier_name": "a carrier",
    "tickets_ticket.currency": CODE,
    "tickets_ticket.reason_code": CODE,
    "tickets_ticketfile.actor": STAFF,
    "tickets_ticketfile.by": CODE,
    "tickets_ticketfile.media_type": CODE,
    "tickets_tickettype": OURS,
    "tickets_unfinishedfile": "names that we make, until the file is removed",
}
# Columns whose ciphertext nobody can read there are emptied.
ENCRYPTED = {
    "companies_keptanswer.secret_body",
    "webhooks_webhook.auth_token",
    "webhooks_webhook.next_secret",
    "webhooks_webhook.secret",
}


def text_columns() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(TEXT_COLUMNS)
        return list(cursor.fetchall())


def all_texts() -> Iterator[tuple[str, str]]:
    """Yield every text of the database in lower case, bytes as hex, by its table and column."""
    columns: dict[str, list[str]] = {}
    for table, column in text_columns():
        columns.setdefault(table, []).append(column)
    for table, names in columns.items():
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT to_jsonb(row) FROM "{table}" AS row')  # noqa: S608
            rows = [json.loads(row) if isinstance(row, str) else row for (row,) in cursor]
        for row in rows:
            for name in names:
                if row[name] is not None:
                    yield f"{table}.{name}", as_text(row[name])


def as_text(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value)).lower()


def places_of(word: str) -> dict[str, int]:
    """Count the occurrences of a word, or of its encodings, by column."""
    forms = (word, word.encode().hex())
    counts: dict[str, int] = {}
    for place, text in all_texts():
        if any(form in text for form in forms):
            counts[place] = counts.get(place, 0) + 1
    return counts
