"""Shared parts of all endpoints: authentication, bodies, errors, rate limits, idempotency."""
