"""Engine that claims, signs, sends and records due deliveries."""
