"""Delivery log, backlog, and webhooks that need attention."""
