"""What changes of tickets share: who acts, the write, its entry of history, files, appeals."""
