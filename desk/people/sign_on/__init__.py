"""Single sign-on: people come to the desk through a provider of OpenID Connect."""
