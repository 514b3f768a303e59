"""What the API is measured beside: the views that anybody would write first."""
