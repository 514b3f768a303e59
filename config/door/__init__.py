"""Between clients' sockets and the application: complete requests in, answers out, nobody waits."""
