"""Webhooks that companies register, the registry of event types, and the rules for URLs."""
