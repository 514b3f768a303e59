"""The endpoints of the delivery log."""
