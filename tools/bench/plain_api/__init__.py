"""Plain views that the API is compared with."""
