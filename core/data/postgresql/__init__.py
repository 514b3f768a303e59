"""Django's PostgreSQL backend, with a bound on how long a statement may be waited for."""
