"""The documents for companies, as pages at /docs/guides."""
