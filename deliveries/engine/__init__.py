"""The engine: claims due deliveries, signs, sends and records them."""
