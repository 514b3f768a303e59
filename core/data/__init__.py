"""What is asked of PostgreSQL, and how: connections, locks, texts under a key, migrations."""
