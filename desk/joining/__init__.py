"""Adding of agents, by form or file, and their invitations."""
