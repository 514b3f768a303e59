"""What was sent, what is waiting, and which webhooks need attention."""
