"""Optional services that the app can use."""
