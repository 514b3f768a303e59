"""What operators and leads set up: ticket types, service levels, macros."""
