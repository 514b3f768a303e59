"""Tickets: statuses and rules, what companies and agents do, who works on what."""
