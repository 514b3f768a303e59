"""Due dates of tickets: business hours, clocks, targets and recalculation."""
