"""Scripts that make what assets/ holds: `python -m tools.<name>`."""
