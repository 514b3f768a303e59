"""A service with two more statuses: consequences of a row of the table."""
