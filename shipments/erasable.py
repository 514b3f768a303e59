"""Erasure of a company's shipments (companies.erasing).

Carriers, statuses, times and amounts stay. Lines about an erased company are refused, so the
digests of earlier lines are not needed either.
"""

from companies import erasing

SHIPMENTS = "SELECT id FROM shipments_shipment WHERE company_id = %(company)s"

BLANK_FACTS = {
    "tracking updates": """
UPDATE shipments_trackingupdate SET status_description = '', location = '',
  digest = decode(md5(id::text), 'hex')
WHERE shipment_id = ANY(%(keys)s)
""",
    "surcharges": """
UPDATE shipments_surcharge SET reason = '' WHERE shipment_id = ANY(%(keys)s) AND reason <> ''
""",
    "incidences": """
UPDATE shipments_incidence SET description = '', heard = '' WHERE shipment_id = ANY(%(keys)s)
""",
}
BLANK_SHIPMENTS = {
    "shipments": """
UPDATE shipments_shipment SET tracking_number = '', "order" = NULL, heard = ''
WHERE id = ANY(%(keys)s)
""",
    **BLANK_FACTS,
}

erasing.register_erasable(
    __name__,
    erasing.Part(
        "shipments",
        erasing.walk_of_ids(SHIPMENTS, 200),
        lambda keys: erasing.execute_all(BLANK_SHIPMENTS, keys),
    ),
)
