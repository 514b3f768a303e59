"""Filters of the page's templates."""
