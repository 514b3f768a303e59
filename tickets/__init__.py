"""Tickets: statuses, rules, actions of companies and agents, assignment and service levels."""
