"""The feed: lines are read, applied to shipments and saved in batches."""
