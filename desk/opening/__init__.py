"""The page on which an agent opens a ticket for a company that calls."""
