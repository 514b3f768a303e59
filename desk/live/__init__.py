"""Live updates of open pages, and agents' notifications."""
