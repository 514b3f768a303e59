"""Incidents, from the alert by the runbook's commands to a service that is well again."""
