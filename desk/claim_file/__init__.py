"""The claim file of a ticket, for a carrier, and the evidence, for a dispute: PDF and ZIP."""
