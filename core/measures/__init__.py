"""What the service counts of its own work: in memory, then in sums over all processes."""
