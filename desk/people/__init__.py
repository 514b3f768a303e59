"""Users, agents, companies, and signing in."""
