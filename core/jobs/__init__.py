"""What comes back every so often, what rings for it, and what happens to a row that fails."""
