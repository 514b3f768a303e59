"""The ground floor: whatever apps need and none of them is about."""
