"""The endpoints under /webhooks."""
