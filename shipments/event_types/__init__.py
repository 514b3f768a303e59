"""Event types of shipments, each in a module that registers it."""
