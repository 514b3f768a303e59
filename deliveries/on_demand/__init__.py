"""What a company asks for: the events of a webhook as a stream, and requests on trial."""
