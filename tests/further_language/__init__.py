"""A service with one more language: consequences of its code, a catalogue and rows."""
