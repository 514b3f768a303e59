"""Single sign-on: people come to the desk through a provider of OpenID Connect."""

# Of a connection to the provider and of each read. Here, since what speaks with it takes memory.
TIMEOUT_SECONDS = 5
