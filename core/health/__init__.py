"""Checks of what the service relies on, their runs on each host, and addresses for machines."""
