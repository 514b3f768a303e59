"""Simulation of the engine from a seed: real loops on one thread, with time and failures drawn."""
