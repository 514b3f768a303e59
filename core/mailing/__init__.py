"""Emails: the rows in which they wait, and the job that sends them."""
