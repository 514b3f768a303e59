"""What every request goes through: its path, its body, its answer, its refusals."""
