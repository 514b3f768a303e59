"""What several rooms of the desk share: forms, admin pages, the cache, CSV files."""
