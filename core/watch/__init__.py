"""What says how the service does: checks, hosts, traces, processes."""
