"""The event types of shipments: a change of status, and a surcharge."""

from shipments.event_types import status, surcharge
from webhooks.event_types import registry

for event_type in status.STATUS_EVENTS:
    # Decision W1: known clients send only a URL, and the default must be a signed type.
    registry.register(event_type, default=event_type is status.TRACKING_SIMPLE)
registry.register(surcharge.SURCHARGE)
