"""Configuration by operators and leads: ticket types, service levels, macros."""
