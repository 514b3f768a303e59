"""Storms: many tickets about one carrier within an hour, handled together."""
