"""Everything by name: one box that finds tickets, companies and pages, and runs commands."""
