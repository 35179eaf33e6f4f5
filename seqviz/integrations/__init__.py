"""Optional external services that the app can use."""
