"""The engine from a seed: the real loop on one thread, with time, network and failures drawn."""
