"""The event types of tickets, each in a module that registers it."""
