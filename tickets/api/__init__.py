"""Ticket endpoints of the API."""
