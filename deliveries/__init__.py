"""Deliveries: events for webhooks, from publishing to the last attempt."""
