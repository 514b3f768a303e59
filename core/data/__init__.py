"""PostgreSQL: connections, statements, locks, encrypted columns, steps of migrations."""
