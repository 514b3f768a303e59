"""Django's PostgreSQL backend, with a bound on the wait for a statement."""
