"""HTTP to receivers: name lookup, guarded connections, and replies."""
