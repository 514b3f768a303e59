"""Who works on a ticket: automatic, taken by an agent, or assigned by a lead."""
