"""Single sign-on through a provider of OpenID Connect."""

# Timeout of each connect and read. Defined here, since importing the client takes memory.
TIMEOUT_SECONDS = 5
