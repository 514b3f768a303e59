"""What changes of tickets share: who acts, the write itself, its entry of history, appeals."""
