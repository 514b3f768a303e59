"""The list of tickets: queues, filters, search and export."""
