"""The pages on which leads set up automations and switch them on."""
