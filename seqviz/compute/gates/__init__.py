"""Gates of trained networks: run, inspect and clamp them; compare other texts' equations."""
