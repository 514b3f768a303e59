"""Emails: the rows in which they wait, and what sends them."""
