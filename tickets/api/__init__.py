"""The ticket endpoints of the API."""
