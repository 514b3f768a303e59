"""Companies and their API tokens, and the shared parts of every endpoint of the API."""
