"""Files that companies send: what they are, whether they are harmless, and where they are kept."""
