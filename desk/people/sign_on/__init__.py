"""Single sign-on: people come to the desk through a provider of OpenID Connect."""

# Limits a connection to the provider, and each read. Here, as what speaks with it takes memory.
TIMEOUT_SECONDS = 5
