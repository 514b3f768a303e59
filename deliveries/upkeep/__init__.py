"""Jobs and their scheduler, and upkeep of the delivery tables."""
