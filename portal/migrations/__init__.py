"""Schema of the company's page."""
