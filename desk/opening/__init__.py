"""Opening of a ticket by an agent for a company that calls."""
