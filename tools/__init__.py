"""What runs, measures and breaks the service; nothing of it runs in production."""
