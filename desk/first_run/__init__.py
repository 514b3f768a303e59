"""Checklist of the settings that a lead decides once."""
