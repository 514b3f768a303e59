"""A ticket's page, and everything that is sent from it."""
