"""What every app stands on: it knows none of them."""
