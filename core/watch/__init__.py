"""Checks, reports of hosts, traces, and names of requests and processes."""
