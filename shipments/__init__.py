"""Shipments as the feed tells of them, and the events that their changes publish."""
