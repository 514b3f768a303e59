"""What happens on tickets, shown on pages that are open, and the notifications of agents."""
