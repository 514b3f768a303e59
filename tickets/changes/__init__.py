"""What every change to a ticket shares: who acts, the write itself, its entry of history."""
