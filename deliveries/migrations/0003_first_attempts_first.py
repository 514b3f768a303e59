"""The queue's index tells first attempts from retries, so that either is found without the other.

And the attempts lose the index of their own number: nothing is ever looked up by it.
"""

from django.db import migrations

FORWARD = """
DROP INDEX delivery_due;
CREATE INDEX delivery_due
  ON deliveries_delivery_open (webhook_id, least(step, 1), due_at, event_id);
-- A claim takes all rows of a page at once: with less room than for all of them again, every
-- second row would get new entries in each index instead of a HOT update.
ALTER TABLE deliveries_delivery_open SET (fillfactor = 45);
ALTER TABLE deliveries_attempt DROP CONSTRAINT deliveries_attempt_pkey;
"""

BACKWARD = """
ALTER TABLE deliveries_delivery_open SET (fillfactor = 70);
ALTER TABLE deliveries_attempt ADD PRIMARY KEY (id, started_at);
DROP INDEX delivery_due;
CREATE INDEX delivery_due ON deliveries_delivery_open (webhook_id, due_at, event_id);
"""


class Migration(migrations.Migration):
    dependencies = [("deliveries", "0002_sending_again")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
