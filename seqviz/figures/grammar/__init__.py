"""How any figure of ours is made: a sheet with panels, axes, scales and words over them."""
