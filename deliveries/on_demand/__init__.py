"""Events of a webhook as a stream, and test sends, both at a company's request."""
