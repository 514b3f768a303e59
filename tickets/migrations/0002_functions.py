"""Triggers and functions for history, loads, search and deciders, and the initial rows."""

from datetime import time

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Triggers reject changes, deletes and truncation of a ticket's history (decision T17), except for
# the erasure of texts in a transaction that sets a parameter (decision N24).
APPEND_ONLY = """
CREATE FUNCTION tickets_history_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_setting('parceldesk.erasing', true) = 'on' THEN
    IF to_jsonb(NEW) - '{reason,data,request_id}'::text[]
        = to_jsonb(OLD) - '{reason,data,request_id}'::text[] THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the history of a ticket is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tickets_historyentry
  FOR EACH ROW EXECUTE FUNCTION tickets_history_is_append_only();
CREATE TRIGGER not_truncated BEFORE TRUNCATE ON tickets_historyentry
  FOR EACH STATEMENT EXECUTE FUNCTION tickets_history_is_append_only();
"""
# Terminal statuses are excluded, as a decided ticket is not load. One that is missing here would
# only add useless rows: queries for loads list the statuses that count.
LOADS = """
CREATE FUNCTION tickets_note_load() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.agent_id IS NOT NULL AND OLD.status NOT IN (2, 3) THEN
    INSERT INTO tickets_loadchange (agent_id, status, change)
    VALUES (OLD.agent_id, OLD.status, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.agent_id IS NOT NULL AND NEW.status NOT IN (2, 3) THEN
    INSERT INTO tickets_loadchange (agent_id, status, change)
    VALUES (NEW.agent_id, NEW.status, 1);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER load_of_new AFTER INSERT ON tickets_ticket
  FOR EACH ROW WHEN (NEW.agent_id IS NOT NULL) EXECUTE FUNCTION tickets_note_load();
CREATE TRIGGER load_of_changed AFTER UPDATE OF agent_id, status ON tickets_ticket
  FOR EACH ROW WHEN (OLD.agent_id IS DISTINCT FROM NEW.agent_id OR OLD.status <> NEW.status)
  EXECUTE FUNCTION tickets_note_load();
CREATE TRIGGER load_of_deleted AFTER DELETE ON tickets_ticket
  FOR EACH ROW WHEN (OLD.agent_id IS NOT NULL) EXECUTE FUNCTION tickets_note_load();
"""
# A comment has its ticket's company, so that a search reads only that company's comments.
COMPANIES = """
CREATE FUNCTION tickets_company_of_comment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.company_id := (SELECT company_id FROM tickets_ticket WHERE id = NEW.ticket_id);
  RETURN NEW;
END $$;
CREATE TRIGGER company_of_comment BEFORE INSERT ON tickets_comment
  FOR EACH ROW EXECUTE FUNCTION tickets_company_of_comment();
"""
# A company searches the words of its tickets and comments block by block. tickets_words_of()
# returns the words of two texts with the row's company and block, which is 16,384 consecutive ids.
# Blocks are searched from the newest until there are enough matches: a word of half a million
# tickets then costs no more than a word without matches. Names of blocks contain a space, so that
# no word can equal one. The indexes have no pending list, which every search would have to scan.
# Like search_terms(), at most 2,000 different words of a text are indexed.
WORDS = """
CREATE FUNCTION tickets_words_of(company bigint, id bigint, text, text)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  words tsvector := to_tsvector('simple', $3) || to_tsvector('simple', coalesce($4, ''));
BEGIN
  IF length(words) > 2000 THEN
    words := ts_delete(words, ARRAY(
      SELECT lexeme FROM unnest(words) ORDER BY positions[1], lexeme OFFSET 2000));
  END IF;
  RETURN words
    || array_to_tsvector(ARRAY['company ' || $1::text || ' block ' || ($2 >> 14)::text]);
END $$;

CREATE INDEX ticket_words_of ON tickets_ticket
  USING gin (tickets_words_of(company_id, id, comments, data)) WITH (fastupdate = off);
CREATE INDEX comment_words_of ON tickets_comment
  USING gin (tickets_words_of(company_id, id, text, NULL::text)) WITH (fastupdate = off)
  WHERE public AND company_id IS NOT NULL;
"""
# Values of the variables: the text between JSON punctuation, without spaces and hyphens, limited to
# values that could be an order number.
TERMS = r"""
CREATE FUNCTION tickets_search_terms(
  ticket_id bigint, body text, variables text, shop_order text, tracking text
) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  place text := (ticket_id >> 14)::text;
  given text := concat_ws(' ', variables, shop_order);
  found text[] := '{}';
BEGIN
  IF strpos(given, '\u') > 0 THEN
    BEGIN
      given := concat_ws(' ', variables::jsonb::text, shop_order);
    EXCEPTION WHEN OTHERS THEN
      -- Half a pair of surrogates, or a NUL: searched as it is written.
    END;
  END IF;
  IF given <> '' THEN
    found := array(
      SELECT place || '=' || piece
      FROM regexp_split_to_table(
        regexp_replace(search_folded(left(given, 40000)), '[- _/#]+', '', 'g'), '[][{}",:\\]+'
      ) AS piece
      WHERE length(piece) BETWEEN 4 AND 40 AND piece ~ '[0-9]'
    );
  END IF;
  IF length(tracking) >= 4 THEN
    found := found || array(
      SELECT place || '#' || substr(tracking, n, 4) FROM generate_series(1, length(tracking) - 3) n
    );
  END IF;
  RETURN search_terms(concat_ws(' ', body, given, tracking), ticket_id)
    || array_to_tsvector(found);
END $$;
"""
ENTRY = """
  SELECT ticket.id,
    CASE WHEN ticket.shipment_id IS NULL THEN '' ELSE left(search_key(parcel.tracking_number), 60)
    END,
    tickets_search_terms(ticket.id, ticket.comments, ticket.data, parcel."order"::text,
      left(search_key(parcel.tracking_number), 60))
"""
PARCEL = """
  LEFT JOIN shipments_shipment parcel
    ON parcel.id = ticket.shipment_id AND parcel.company_id = ticket.company_id
"""
INTO = "INSERT INTO tickets_searchentry (ticket_id, tracking, terms)"
ENTRIES = f"""
CREATE FUNCTION tickets_write_search_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  {INTO} {ENTRY}
  FROM (SELECT NEW.*) AS ticket {PARCEL}
  ON CONFLICT (ticket_id) DO UPDATE SET tracking = excluded.tracking, terms = excluded.terms;
  RETURN NULL;
END $$;
CREATE FUNCTION tickets_write_search_entries(ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  {INTO} {ENTRY}
  FROM tickets_ticket AS ticket {PARCEL}
  WHERE ticket.id = ANY(ids) ORDER BY ticket.id
  ON CONFLICT (ticket_id) DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  RETURN written;
END $$;
"""  # noqa: S608 - of our own parts
ENTRY_TRIGGERS = """
CREATE TRIGGER search_entry_of_new AFTER INSERT ON tickets_ticket
  FOR EACH ROW EXECUTE FUNCTION tickets_write_search_entry();
CREATE TRIGGER search_entry_of_changed AFTER UPDATE OF comments, data, shipment_id ON tickets_ticket
  FOR EACH ROW WHEN (OLD.comments IS DISTINCT FROM NEW.comments
    OR OLD.data IS DISTINCT FROM NEW.data OR OLD.shipment_id IS DISTINCT FROM NEW.shipment_id)
  EXECUTE FUNCTION tickets_write_search_entry();
"""
SEARCH_INDEXES = """
CREATE INDEX comment_search ON tickets_comment USING gin (search_terms(text, id))
  WITH (fastupdate = off);
CREATE INDEX document_search ON tickets_document
  USING gin (search_terms(coalesce(key, '') || ' ' || coalesce(value, ''), id))
  WITH (fastupdate = off);
CREATE INDEX requested_search ON tickets_requesteddocument USING gin (search_terms(name, id))
  WITH (fastupdate = off);
CREATE INDEX file_search ON tickets_ticketfile USING gin (search_terms(name, id))
  WITH (fastupdate = off);
"""
# Actors in the history are usernames, or the names of tokens and automations, which have no user.
DECIDERS = """
CREATE FUNCTION tickets_decider(bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT auth_user.id FROM (
    SELECT by, actor FROM tickets_historyentry
    WHERE ticket_id = $1 AND public AND was IS NOT NULL ORDER BY id DESC LIMIT 1
  ) AS move JOIN auth_user ON username = actor WHERE by IN ('agent', 'lead')
$$;
CREATE FUNCTION tickets_keep_decider() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decided_by_id := CASE WHEN NEW.decided_at IS NOT NULL THEN tickets_decider(NEW.id) END;
  RETURN NEW;
END $$;
CREATE TRIGGER tickets_keep_decider BEFORE UPDATE OF decided_at ON tickets_ticket
FOR EACH ROW WHEN (NEW.decided_at IS DISTINCT FROM OLD.decided_at
  AND NEW.decided_by_id IS NOT DISTINCT FROM OLD.decided_by_id)
EXECUTE FUNCTION tickets_keep_decider();
"""
# Decision T14: id, name, description, reference, and whether the reference is required. Operators
# may add their own types.
TYPES = [
    (2, "carrier", "Activation of a carrier", "", False),
    (3, "overweight", "A shipment was charged for more weight than it has", "guide", True),
    (4, "lost", "A shipment is lost", "guide", True),
    (5, "damaged", "A shipment arrived damaged", "guide", True),
    (6, "wrong_address", "A shipment went to a wrong address", "guide", True),
    (7, "refund", "A credit should be refunded", "credit", True),
    (8, "delay", "A shipment is late", "guide", True),
    (9, "payment_pending", "A payment is pending", "", False),
    (10, "pobox_package", "A package at the PO box", "warehouse-package", False),
    (13, "theft", "A shipment was stolen", "guide", True),
    (14, "redirection", "A shipment should go to another address", "guide", True),
    (19, "credit_line", "Application for a credit line", "legal-credit", True),
    (24, "partial_refund", "A credit should be refunded in part", "credit", True),
    (25, "delivery_attempt", "A delivery attempt is disputed", "guide", True),
]
# Code, English and Spanish name, for Accepted, for Declined.
CODES = [
    ("carrier_liable", "The carrier is liable", "La paquetería es responsable", True, False),
    ("loss_confirmed", "Loss confirmed", "Pérdida confirmada", True, False),
    ("damage_confirmed", "Damage confirmed", "Daño confirmado", True, False),
    ("charge_wrong", "The charge was wrong", "El cargo era incorrecto", True, False),
    ("request_done", "Request carried out", "Solicitud realizada", True, False),
    ("goodwill", "Goodwill", "Cortesía comercial", True, False),
    ("evidence_missing", "Evidence is missing", "Faltan pruebas", False, True),
    ("packaging", "Insufficient packaging", "Empaque insuficiente", False, True),
    ("claimed_late", "Claimed too late", "Reclamo fuera de plazo", False, True),
    ("delivered", "Delivered as agreed", "Entregado según lo acordado", False, True),
    ("not_covered", "Not covered", "Sin cobertura", False, True),
    ("prohibited_content", "Prohibited content", "Contenido prohibido", False, True),
    ("wrong_details", "Wrong details given", "Datos incorrectos", False, True),
    ("charge_correct", "The charge was correct", "El cargo era correcto", False, True),
    ("requirements_not_met", "Requirements not met", "No cumple los requisitos", False, True),
    ("withdrawn", "Withdrawn by the company", "Retirada por la empresa", False, True),
    ("no_answer", "No answer from the company", "Sin respuesta de la empresa", False, True),
    ("other", "Other", "Otro", True, True),
]


def add_types(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    TicketType = apps.get_model("tickets", "TicketType")
    TicketType.objects.bulk_create(
        TicketType(
            id=id, name=name, description=text, reference=reference, reference_required=required
        )
        for id, name, text, reference, required in TYPES
    )


def add_working_week(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add a calendar of Monday to Friday, 9 to 18, and a target: response in 8 h, decision in 40 h.

    Leads may change both, and add others.
    """
    calendar = apps.get_model("tickets", "Calendar").objects.create(name="Working week")
    for weekday in range(5):
        calendar.hours.create(weekday=weekday, starts=time(9), ends=time(18))
    apps.get_model("tickets", "SLATarget").objects.create(
        calendar=calendar, first_response_minutes=8 * 60, resolution_minutes=40 * 60
    )


def add_codes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    ReasonCode = apps.get_model("tickets", "ReasonCode")
    ReasonCode.objects.bulk_create(
        ReasonCode(
            code=code,
            names={"en": english, "es": spanish},
            for_accepted=accepted,
            for_declined=declined,
            position=10 * position,
        )
        for position, (code, english, spanish, accepted, declined) in enumerate(CODES, start=1)
    )


class Migration(migrations.Migration):
    dependencies = [("tickets", "0001_initial")]

    operations = [
        migrations.RunSQL(APPEND_ONLY, migrations.RunSQL.noop),
        migrations.RunSQL(LOADS, migrations.RunSQL.noop),
        migrations.RunSQL(COMPANIES, migrations.RunSQL.noop),
        migrations.RunSQL(WORDS, migrations.RunSQL.noop),
        migrations.RunSQL(TERMS, migrations.RunSQL.noop),
        migrations.RunSQL(ENTRIES + ENTRY_TRIGGERS, migrations.RunSQL.noop),
        migrations.RunSQL(SEARCH_INDEXES, migrations.RunSQL.noop),
        migrations.RunSQL(DECIDERS, migrations.RunSQL.noop),
        migrations.RunPython(add_types, migrations.RunPython.noop),
        migrations.RunPython(add_working_week, migrations.RunPython.noop),
        migrations.RunPython(add_codes, migrations.RunPython.noop),
    ]
