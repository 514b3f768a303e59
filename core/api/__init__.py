"""Paths, bodies, answers and refusals of every endpoint."""
