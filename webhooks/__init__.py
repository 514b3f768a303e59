"""Webhooks: what companies register, which event types exist, where we may send."""
