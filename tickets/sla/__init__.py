"""When a ticket is due: business hours, clocks, targets and their recalculation."""
