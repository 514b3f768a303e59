"""Companies and their API tokens, and what every endpoint of the API shares."""
