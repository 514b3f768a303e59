"""Tools that run, measure and break the service; nothing here runs in production."""
