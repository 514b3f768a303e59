"""What changes to a ticket share: who acts, the write itself, its entry of history, its files."""
