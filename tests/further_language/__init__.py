"""A service that speaks one more language: what follows from its code, a catalogue and rows."""
