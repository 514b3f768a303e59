"""What all endpoints share: authentication, bodies, errors, rate limits, idempotency."""
