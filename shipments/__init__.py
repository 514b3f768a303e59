"""Shipments as the feed reports them, and the events that their changes publish."""
