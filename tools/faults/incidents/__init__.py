"""Incidents: from the alert, by the runbook's commands, to a healthy service."""
