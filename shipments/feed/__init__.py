"""The feed: reads lines, applies them to shipments, and saves them in batches."""
