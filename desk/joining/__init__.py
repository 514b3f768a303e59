"""How people become agents: one by one or by file, by an invitation that sets a password."""
