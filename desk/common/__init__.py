"""Code shared by the rooms of the desk: forms, admin pages, the cache, CSV files."""
