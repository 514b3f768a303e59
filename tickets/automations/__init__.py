"""What is done by itself after a wait: reminders, closing what stays silent, escalation."""
