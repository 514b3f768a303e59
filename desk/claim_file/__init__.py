"""The claim file of a ticket: one PDF, and a ZIP with it, that a carrier can take."""
