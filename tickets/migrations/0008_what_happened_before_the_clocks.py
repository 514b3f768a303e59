"""Carriers, first answers and decisions of tickets from before; the sweep winds the open ones."""

from django.db import migrations

# Who has a million tickets waits longer than any request may.
FILL = """
SET LOCAL statement_timeout = 0;
WITH known AS (
  SELECT ticket.id,
    COALESCE(NULLIF(ticket.carrier_name, ''), shipment.carrier_name, '') AS carrier_name,
    COALESCE(ticket.first_responded_at, LEAST(
      (SELECT min(created_at) FROM tickets_comment AS comment
        WHERE comment.ticket_id = ticket.id AND comment.by = 'agent' AND comment.public),
      (SELECT min(created_at) FROM tickets_historyentry AS line
        WHERE line.ticket_id = ticket.id AND line.public AND line.was IS NOT NULL
          AND line.by IN ('agent', 'lead') AND line.now IN (2, 3, 4))
    )) AS first_responded_at,
    COALESCE(ticket.decided_at, CASE WHEN ticket.status IN (2, 3) THEN COALESCE(
      (SELECT max(created_at) FROM tickets_historyentry AS line
        WHERE line.ticket_id = ticket.id AND line.public AND line.was IS NOT NULL
          AND line.now IN (2, 3)),
      ticket.updated_at
    ) END) AS decided_at
  FROM tickets_ticket AS ticket
  LEFT JOIN shipments_shipment AS shipment
    ON shipment.id = ticket.shipment_id AND shipment.company_id = ticket.company_id
)
UPDATE tickets_ticket AS ticket
SET carrier_name = known.carrier_name, first_responded_at = known.first_responded_at,
    decided_at = known.decided_at
FROM known
WHERE known.id = ticket.id
  AND (known.carrier_name, known.first_responded_at, known.decided_at)
    IS DISTINCT FROM (ticket.carrier_name, ticket.first_responded_at, ticket.decided_at);
"""


class Migration(migrations.Migration):
    dependencies = [("tickets", "0007_working_week"), ("shipments", "0001_initial")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
