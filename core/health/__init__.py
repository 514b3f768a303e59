"""Checks of what the service stands on, their runs on each host, and addresses for machines."""
