"""The back office: everything that agents, leads and operators see in a browser."""
