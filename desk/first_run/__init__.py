"""What a lead settles once, so that nothing of the desk is off without saying so."""
