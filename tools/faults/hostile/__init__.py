"""Attacks on the service, and their effect on other companies."""
