"""Assignment of tickets: automatic, taken by an agent, or by a lead."""
