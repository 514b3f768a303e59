"""The frame of the API: authentication, bodies, errors, rate limits, idempotency."""
