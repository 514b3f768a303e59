"""Filters of the company's page."""
