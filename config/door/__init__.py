"""Layer between clients' sockets and the application; it buffers, so that no thread waits."""
