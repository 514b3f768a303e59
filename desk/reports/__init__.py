"""The start page and the figures behind it."""
