"""Shipments from the platform's feed, and the events that their changes publish."""
