"""What keeps the delivery tables small and ready, and the periodic tasks that see to it."""
