"""Metrics of the service's own work: in memory, then in sums over all processes."""
