"""Jobs, their scheduler, the doorbell, and rows that jobs fail on."""
