"""Automations: reminders, closing of silent tickets, escalation."""
