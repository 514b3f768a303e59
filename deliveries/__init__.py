"""Deliveries: every event that a webhook gets, from publishing to its last attempt."""
