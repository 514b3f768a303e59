"""HTTP to receivers: name lookup, guarded connections, and what came back."""
