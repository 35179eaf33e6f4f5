"""HTTP routes of rooms, and what a room computes and broadcasts."""
