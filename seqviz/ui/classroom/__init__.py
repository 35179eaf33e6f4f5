"""HTTP routes of rooms, seed experiments and broadcast figures."""
