"""Shared parts of changes to tickets: actors, writes, history, files, appeals, notifications."""
