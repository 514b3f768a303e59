"""A service with one more status, "On hold": what follows from a row of the table, and what not."""
