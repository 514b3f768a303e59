"""A service with two statuses more: what follows from a row of the table, and what not."""
