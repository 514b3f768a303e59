"""What the feed makes of its lines."""

from faults.broken import Mutant

APPLYING = "shipments/feed/applying.py"
BATCH = "shipments/feed/batch.py"
FIELDS = "shipments/feed/fields.py"
INGESTING = "shipments/feed/ingesting.py"
READING = "shipments/feed/reading.py"
SAVING = "shipments/feed/saving.py"

FEED = (
    Mutant(
        "time-no-part-of-the-digest",
        "shipments/feed/parsing.py",
        'self.location or "", self.occurred_at',
        'self.location or ""',
        "Shipped, Delayed, Shipped: the third is dropped as a repeat.",
    ),
    Mutant(
        "batch-locks-nothing",
        BATCH,
        '.order_by("pk")\n        .select_for_update(no_key=True)',
        '.order_by("pk")',
        "Of two runs at once one overwrites what the other recorded.",
    ),
    Mutant(
        "batch-locks-in-any-order",
        BATCH,
        '.order_by("pk")\n',
        '.order_by("-created_at")\n',
        "Two runs at once stand in each other's way.",
    ),
    Mutant(
        "memory-keeps-the-oldest",
        APPLYING,
        "[-HEARD_LINES * DIGEST_BYTES :]",
        "[: HEARD_LINES * DIGEST_BYTES]",
        "An old file fed again takes a busy shipment back.",
    ),
    Mutant(
        "memory-too-short",
        APPLYING,
        "HEARD_LINES = 100",
        "HEARD_LINES = 10",
        "An old file fed again takes a busy shipment back.",
    ),
    Mutant(
        "case-makes-an-event",
        APPLYING,
        "if statuses.is_same_status(line.status, shipment.status):",
        "if line.status == shipment.status:",
        "Customers are told the same status twice.",
    ),
    Mutant(
        "left-again",
        APPLYING,
        " and shipment.shipped_at is None",
        "",
        "The date of shipping moves with every scan.",
    ),
    Mutant(
        "first-delivery-counts",
        APPLYING,
        "if line.status == statuses.DELIVERED:",
        "if line.status == statuses.DELIVERED and shipment.delivered_at is None:",
        "A parcel that was returned and delivered again keeps the wrong date.",
    ),
    Mutant(
        "shipment-changes-hands",
        APPLYING,
        "if shipment.company_id != line.company_id:",
        "if shipment.company_id is None:",
        "A line with the wrong company changes another company's shipment.",
    ),
    Mutant(
        "incidence-changes-shipments",
        APPLYING,
        "if incidence.shipment_id != shipment.pk:",
        "if incidence.shipment_id is None:",
        "A line with the wrong shipment changes another company's incidence.",
    ),
    Mutant(
        "amounts-are-corrected",
        APPLYING,
        "if getattr(known, name) != value]:",
        "if False]:",
        "A charge that contradicts itself is taken for a repeat.",
    ),
    Mutant(
        "refund-is-its-charge",
        APPLYING,
        "key = (line.surcharge_id, line.transaction_type)",
        'key = (line.surcharge_id, "surcharge")',
        "Refunds are dropped.",
    ),
    Mutant(
        "incidence-starts-closed",
        APPLYING,
        "is_open = line.open is not False",
        "is_open = bool(line.open)",
        "A new incidence links no ticket.",
    ),
    Mutant(
        "closed-at-once-is-told",
        APPLYING,
        "batch.opened.pop(incidence.pk, None)",
        "pass",
        "Tickets are linked to an incidence that is closed.",
    ),
    Mutant(
        "opened-for-ever",
        APPLYING,
        "elif not was_open:",
        "else:",
        "Each line about an open incidence tells of it again.",
    ),
    Mutant(
        "what-is-left-out-is-erased",
        APPLYING,
        "if value is not None and getattr(row, name) != value",
        "if getattr(row, name) != value",
        "A line that leaves out the order erases it.",
    ),
    Mutant(
        "ecommerce-without-order",
        "shipments/feed/news.py",
        "and (shipment.order or not event_type.needs_order)",
        "",
        "Shops get events of parcels that are none of theirs.",
    ),
    Mutant(
        "halving-loses-a-line",
        INGESTING,
        "record_lines(lines[middle:], waits)",
        "record_lines(lines[middle + 1 :], waits)",
        "Beside a bad line a good one is lost.",
    ),
    Mutant(
        "no-second-try",
        INGESTING,
        "(0.1, 0.5, 2.0, 5.0, 10.0)",
        "()",
        "A restart of the database ends the feed.",
    ),
    Mutant(
        "reached-too-little",
        INGESTING,
        "tally.reached = group[-1][0]",
        "tally.reached = group[0][0]",
        "After an interruption the operator is told the wrong line.",
    ),
    Mutant(
        "races-unnoticed",
        SAVING,
        "if cursor.rowcount != len(items):",
        "if cursor.rowcount > len(items):",
        "Of two runs at once one tells an event that is not recorded.",
    ),
    Mutant(
        "end-of-a-batch-untold",
        SAVING,
        "publish(batch.news)",
        "publish(batch.news[:499])",
        "Now and then an event is not sent.",
    ),
    Mutant(
        "last-line-lost",
        READING,
        "    if rest:\n",
        "    if rest and chunk:\n",
        "The last line of a file without an end is lost.",
    ),
    Mutant(
        "lines-too-long",
        READING,
        "LONGEST_LINE_BYTES = 64 * 1024",
        "LONGEST_LINE_BYTES = 640 * 1024",
        "A broken feed takes memory.",
    ),
    Mutant(
        "amount-of-zero",
        FIELDS,
        "if not 0 < number",
        "if not 0 <= number",
        "A charge of nothing is told.",
    ),
    Mutant(
        "decimals-cut-off",
        FIELDS,
        "AMOUNT_DECIMALS = 4",
        "AMOUNT_DECIMALS = 8",
        "An amount is rounded without a word.",
    ),
)
