"""Guides for companies, as pages at /docs/guides."""
