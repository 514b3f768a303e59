"""Attacks on the service, and what other companies notice of them."""
